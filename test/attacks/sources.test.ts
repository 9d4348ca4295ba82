import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_SOURCE_BYTES } from '../../src/domain/limits.js';
import { deferred } from '../../src/lib/async/deferred.js';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/** Sources that kill, stall or fool the native parser. It shares a process with its caller’s programs. */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

/** As often as it fits into the longest source there is. */
const filled = (open: string, core = '', close = '', before = ''): string =>
  before +
  open.repeat(Math.floor((MAX_SOURCE_BYTES - 64) / (open.length + close.length))) +
  core +
  close.repeat(Math.floor((MAX_SOURCE_BYTES - 64) / (open.length + close.length)));

/** Of the largest size, so that each takes the most of the parser's stack that a source can take. */
const SHAPES: readonly (readonly [kind: string, source: string])[] = [
  ['parentheses', filled('(', '1', ')')],
  ['parentheses that stay open', filled('(')],
  ['brackets that stay open', filled('[')],
  ['braces', filled('{', '', '}')],
  ['objects', filled('{a:', '1', '}', 'x=')],
  ['negations', filled('!', '1')],
  ['signs', filled('- ', '1')],
  ['arrow functions', filled('a=>', '1')],
  ['async arrow functions', filled('async()=>', '1')],
  ['functions', filled('function f(){', '', '}')],
  ['classes', filled('class A{a=', '1', '}')],
  ['namespaces', filled('namespace a{', '', '}')],
  ['templates', filled('`${', '1', '}`')],
  ['conditional expressions', filled('a?b:', 'c')],
  ['assignments', filled('a=', 'b')],
  ['operators', filled('1+', '1')],
  ['members and calls', `a${'.a()'.repeat(60_000)}`],
  ['conditions without braces', filled('if(a)', 'b')],
  ['loops without braces', filled('for(;;)', 'b')],
  ['else after else', `${'if(a);else '.repeat(20_000)};`],
  ['type arguments', filled('A<', 'B', '>', 'type X=')],
  ['tuple types, the worst of all', filled('[', '', '', 'type X=')],
  ['tuple types behind what looks like a comment', filled('[', '', '', '/[/*]/;type X=')],
  ['object types', filled('{a:', '', '', 'type X=')],
  ['mapped types', filled('{[k in ', '', '', 'type X=')],
  ['function types', filled('(a:', '', '', 'type X=')],
  ['conditional types', filled('a extends b?c:', 'd', '', 'type X=')],
  ['casts', filled('<a>', '1')],
];

const SOURCES: readonly (readonly [kind: string, source: string])[] = [
  ['an angle bracket that could be anything, 5,000 times', `const x = ${'a < b > ('.repeat(5_000)}`],
  ['a hundred thousand errors', '@#'.repeat(100_000)],
  ['an unfinished string', `const x = "${'x'.repeat(250_000)}`],
  ['a long identifier', `const ${'x'.repeat(250_000)} = 1;`],
  ['fifteen thousand declarations', Array.from({ length: 15_000 }, (_, n) => `let v${n}=1;`).join('')],
  ['an enum with 10,000 members', `enum E { ${Array.from({ length: 10_000 }, (_, n) => `M${n}`).join()} }`],
  ['lone surrogates and NUL', `const x = "\ud800\0\udfff"; const \ud83d = 1;`],
];

describe('what a source does to the parser', () => {
  test.each(SHAPES)('stays between the two, and the worker lives: %s [A35]', async (_, source) => {
    const go = deferred<void>();
    const program = `import { wait } from '@codemode/servers/test'; await wait(); ${result('"waited"')}`;
    const waiting = box.value(program, { caller: 'mallory', functions: { wait: () => go.promise } });
    const workersOfMallory = () => box.sandbox.pool.workers.filter(({ caller }) => caller === 'mallory');
    await expect
      .poll(() => workersOfMallory().some(({ runCount, backlog }) => runCount > 0 && backlog === 0))
      .toBe(true);
    const before = workersOfMallory();
    const { outcome } = await box.run(source, { caller: 'mallory', limits: { timeoutMs: 20_000 } });
    if (outcome.status === 'failed') expect(['syntax', 'limit', 'exception']).toContain(outcome.failure.kind);
    expect(before.map(({ isLost }) => isLost)).toEqual(before.map(() => false));
    go.resolve();
    expect(await waiting).toBe('waited');
  });

  test.each(SOURCES)('is not noticed by others: %s [A35]', async (_, source) => {
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

  test('ends with its time where it keeps the parser busy, and takes nobody along [A35]', async () => {
    const slow = box.run(filled('a<', 'b'), { caller: 'mallory', limits: { timeoutMs: 500 } });
    const other = await box.value(result('"served"'), { caller: 'mallory' });
    expect((await slow).outcome).toMatchObject({ failure: { kind: 'limit', limit: 'timeout' } });
    expect(other).toBe('served');
  });

  test('is nothing where it is longer than it may be: it is refused first', async () => {
    await expect(box.run('x'.repeat(MAX_SOURCE_BYTES + 1))).rejects.toMatchObject({ code: 'bad_input' });
    await expect(box.run('ü'.repeat(150_000))).rejects.toMatchObject({ code: 'bad_input' });
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
