import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/** Sources that kill, stall or fool the native parser. It may die; nobody else’s program may notice. */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const nested = (open: string, close: string, depth: number, core = '1') =>
  open.repeat(depth) + core + close.repeat(depth);
const SOURCES: readonly (readonly [kind: string, source: string])[] = [
  ['20,000 parentheses', `const x = ${nested('(', ')', 20_000)};`],
  ['100,000 brackets', `const x = ${nested('[', ']', 100_000)};`],
  ['50,000 braces', nested('{', '}', 50_000, '')],
  ['50,000 conditional expressions', `const x = ${'1 ? 2 : '.repeat(50_000)}3;`],
  ['50,000 arrow functions', `const x = ${'() => '.repeat(50_000)}1;`],
  ['50,000 type arguments', `type X = ${nested('Array<', '>', 50_000, 'string')};`],
  ['50,000 templates', `const x = ${nested('`${', '}`', 20_000)};`],
  ['100,000 operators', `const x = ${'1 + '.repeat(100_000)}1;`],
  ['100,000 negations', `const x = ${'!'.repeat(100_000)}1;`],
  ['50,000 blocks with else', `${'if (a) {} else '.repeat(50_000)}{}`],
  ['an angle bracket that could be anything, 5,000 times', `const x = ${'a < b > ('.repeat(5_000)}`],
  ['a hundred thousand errors', '@#'.repeat(100_000)],
  ['an unfinished string of a megabyte', `const x = "${'x'.repeat(1_000_000)}`],
  ['an identifier of a megabyte', `const ${'x'.repeat(1_000_000)} = 1;`],
  ['twenty thousand declarations', Array.from({ length: 20_000 }, (_, n) => `let v${n}=1;`).join('')],
  ['an enum with 10,000 members', `enum E { ${Array.from({ length: 10_000 }, (_, n) => `M${n}`).join()} }`],
  ['lone surrogates and NUL', `const x = "\ud800\0\udfff"; const \ud83d = 1;`],
];

describe('what a source does to the parser stays between the two', () => {
  test.each(SOURCES)('%s [A35]', async (_, source) => {
    const hostile = box.run(`${source}\n${result('"ran"')}`, { caller: 'mallory', limits: { timeoutMs: 10_000 } });
    const others = await Promise.all(
      [1, 2, 3].map((n) => box.value(`const typed: number = ${n}; ${result('typed * 2')}`, { caller: 'alice' })),
    );
    expect(others).toEqual([2, 4, 6]);
    const { outcome } = await hostile;
    // Either it is really run, or it is the author's own error or limit; never a failure of the host.
    if (outcome.status === 'completed') expect(outcome.resultJson).toBe('"ran"');
    else expect(['syntax', 'limit', 'exception']).toContain(outcome.failure.kind);
    // The same caller's next program finds a parser again.
    expect(await box.value(`const typed: string = 'next'; ${result('typed')}`, { caller: 'mallory' })).toBe('next');
  });

  test('one that kills the parser is a syntax error of that source; those behind it in the queue are read', async () => {
    const killer = `const x = ${nested('(', ')', 20_000)};`;
    const outcomes = await Promise.all(
      [result('1'), killer, result('2'), killer, result('3')].map(
        async (source) => (await box.run(source, { caller: 'mallory' })).outcome,
      ),
    );
    const syntax = { status: 'failed', failure: { kind: 'syntax', hint: expect.stringContaining('Flatten') } };
    expect(outcomes).toMatchObject([{ resultJson: '1' }, syntax, { resultJson: '2' }, syntax, { resultJson: '3' }]);
  });

  test('one above the limit is refused before any parser sees it', async () => {
    await expect(box.run('x'.repeat(1024 * 1024 + 1))).rejects.toMatchObject({ code: 'bad_input' });
    await expect(box.run('ü'.repeat(600_000))).rejects.toMatchObject({ code: 'bad_input' });
  });
});

describe('what a source says to the parser changes nothing around the program', () => {
  test.each([
    [
      'a directive to change the JSX runtime',
      `/** @jsx globalThis.escaped = 1 */ /** @jsxImportSource https://example.com */\n${result('typeof escaped')}`,
    ],
    [
      'a source map of its own',
      `//# sourceMappingURL=data:application/json;base64,e30=\n//# sourceURL=codemode:boot\n${result('typeof escaped')}`,
    ],
    ['a reference to a file', `/// <reference path="/etc/passwd" />\n${result('typeof escaped')}`],
    ['an import type from a file', `import type { X } from '/etc/passwd';\n${result('typeof escaped')}`],
    ['an html comment', `const a = 1; /* <!-- */ /* --> */ ${result('typeof escaped')}`],
    ['a shebang', `#!/bin/sh\n${result('typeof escaped')}`],
    ['a byte order mark', `\ufeff${result('typeof escaped')}`],
  ])('%s', async (_, source) => {
    expect(await box.value(source)).toBe('undefined');
  });

  test.each([
    ['import equals require', `import fs = require('fs'); ${result('fs')}`],
    [
      'a helper that is not there',
      `using x = { [Symbol.dispose]() {} }; @dec class A {} function dec() {} ${result('1')}`,
    ],
    ['JSX', `const x = <a href="x"/>; ${result('x')}`],
    ['export assignment', `export = 1;`],
  ])('%s brings in no module that the program could not import', async (_, source) => {
    const { outcome } = await box.run(source);
    if (outcome.status === 'failed') expect(['syntax', 'import', 'exception']).toContain(outcome.failure.kind);
  });

  test('a name chosen to look like ours in stacks and positions is only a name', async () => {
    const { outcome } = await box.run(
      `const o = { ['main.ts:1:1) at (codemode:boot']() { throw new Error('at x (main.ts:999:999)\\n    at y (/etc/passwd:1:1)') } }; o['main.ts:1:1) at (codemode:boot']();`,
    );
    expect(outcome).toMatchObject({ failure: { kind: 'exception' } });
    expect(JSON.stringify(outcome)).not.toMatch(/worker\.js|node:|\/codemode\//);
  });
});
