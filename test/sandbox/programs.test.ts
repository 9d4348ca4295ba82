import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallFailure, openSandbox, result, type TestSandbox, testEngine } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox();
});
afterAll(() => box[Symbol.asyncDispose]());

const failure = async (source: string, options?: Parameters<TestSandbox['run']>[1]) => {
  const { outcome } = await box.run(source, options);
  if (outcome.status === 'completed') throw new Error(`the program came to its end: ${outcome.resultJson}`);
  return outcome.failure;
};

const echo = { echo: (input: unknown) => input };

describe('a fresh sandbox', () => {
  test('sees nothing of the program before it [A3]', async () => {
    await box.run(`
      globalThis.leftover = 1; Object.prototype.polluted = 1; Array.prototype.push = () => 0;
      setTimeout(() => { globalThis.later = 1 }, 5); const m = await import('@codemode/errors');
      JSON.stringify = () => 'mine';
    `);
    const seen = await box.value(
      result(`[typeof leftover, ({}).polluted, [].push(1), typeof later, JSON.stringify({ a: 1 })]`),
    );
    expect(seen).toEqual(['undefined', null, 1, 'undefined', '{"a":1}']);
  });

  test('draws its own random numbers', async () => {
    const draw = () => box.value(result('[Math.random(), Math.random()]'));
    const drawn = await Promise.all([draw(), draw(), draw()]);
    expect(new Set(drawn.map(String)).size).toBe(3);
  });
});

describe('modules and TypeScript', () => {
  test('a program has imports, exports, top-level await and dynamic import of the same modules [A4]', async () => {
    const value = await box.value(
      `import { echo } from '@codemode/servers/test';
       import * as all from '@codemode/servers/test';
       export const exported = 1;
       const lazily = await import('@codemode/servers/test');
       ${result("[await echo({ a: 1 }), lazily.echo === echo, Object.keys(all), (await import('@codemode/errors')).ToolCallError.name]")}`,
      { functions: echo },
    );
    expect(value).toEqual([{ a: 1 }, true, ['echo'], 'ToolCallError']);
  });

  test('TypeScript is accepted: enums, parameter properties, satisfies, generics, namespaces [A4]', async () => {
    const value = await box.value(`
      import type { Missing } from '@codemode/servers/nowhere';
      enum Colour { Red = 1, Green = 'g' }
      class Point { constructor(private readonly x: number, public y = 2) {} sum(): number { return this.x + this.y } }
      abstract class Shape { abstract area(): number }
      namespace Inner { export const deep = 5 }
      const config = { a: 1 } satisfies Record<string, number>;
      function identity<T>(value: T): T { return value }
      const picked = identity<number>(7);
      let later!: string;
      ${result('[Colour.Red, Colour.Green, Colour[1], new Point(1).sum(), Inner.deep, config.a, picked, <any>later as unknown]')}
    `);
    expect(value).toEqual([1, 'g', 'Red', 3, 5, 1, 7, null]);
  });

  test.each([
    ["import { x } from 'fs'", 'fs', 'no packages'],
    ["import fs from 'node:fs'", 'node:fs', 'no packages'],
    ["await import('child_process')", 'child_process', 'no packages'],
    ["await import('data:text/javascript,export default 1')", 'data:text/javascript,export default 1', 'no packages'],
    ["import x from './other.js'", './other.js', 'no other files'],
    ["import * as b from 'codemode:bindings'", 'codemode:bindings', 'no packages'],
    ["await import('codemode:bindings')", 'codemode:bindings', 'no packages'],
    ["import * as b from '@codemode/bindings-of'", '@codemode/bindings-of', '@codemode/servers/<serverId>, '],
  ])('%s is an import failure that says what to do instead [A11, A12]', async (source, specifier, hint) => {
    const failed = await failure(source, { functions: echo });
    expect(failed).toMatchObject({ kind: 'import', message: `could not load module '${specifier}'` });
    expect(failed.hint).toContain(hint);
  });

  test('a misspelt export gets the nearest name [A11]', async () => {
    const failed = await failure(`import { ecoh } from '@codemode/servers/test'`, { functions: echo });
    expect(failed.kind).toBe('import');
    expect(failed.hint).toContain('Did you mean `echo`?');
  });
});

describe('positions', () => {
  test('an uncaught exception is placed in the agent’s own TypeScript lines and columns [A11]', async () => {
    const source = [
      'interface Wide {',
      '  a: number;',
      '}',
      '',
      'enum E { A, B }',
      'function fail(wide: Wide): never {',
      "  throw new TypeError('no');",
      '}',
      'fail({ a: 1 });',
    ].join('\n');
    const failed = await failure(source);
    expect(failed).toMatchObject({
      kind: 'exception',
      name: 'TypeError',
      message: 'no',
      position: { line: 7, column: testEngine() === 'v8' ? 9 : 13 },
    });
    expect(failed.stack).toContain('at fail (main.ts:7:');
    expect(failed.stack).toContain('(main.ts:9:1)');
  });

  test('a syntax error is placed by characters, not bytes [A11]', async () => {
    const failed = await failure("const é = 'ü🎉';\nconst ü = 'é'; const x = ;");
    expect(failed).toMatchObject({ kind: 'syntax', name: 'SyntaxError', position: { line: 2, column: 26 } });
    expect(failed.message).toContain('const x = ;');
  });

  test('a stack read by the program itself has the agent’s positions too [A11]', async () => {
    const stack = (await box.value(
      `type Long = {\n a: 1,\n b: 2 };\nconst e = new Error('here');\n${result('e.stack')}`,
    )) as string;
    const column = testEngine() === 'v8' ? 11 : 15;
    expect(stack).toBe(`Error: here\n    at <anonymous> (main.ts:4:${column})`);
  });

  test('the error of a failed call points at the call', async () => {
    const failed = await failure(`import { refuse } from '@codemode/servers/test';\n\n\nawait refuse({});`, {
      functions: {
        refuse: () => {
          throw new CallFailure('not today');
        },
      },
    });
    expect(failed).toMatchObject({
      name: 'ToolCallError',
      errorClass: 'ToolCallError',
      message: 'not today',
      hint: 'Try something else.',
      position: { line: 4 },
    });
  });
});

describe('results and failures', () => {
  test('__codemode_result__ becomes the result, null if it was never assigned [A5]', async () => {
    expect(await box.value(result('{ a: [1, "x", true, null], b: undefined }'))).toEqual({ a: [1, 'x', true, null] });
    expect(await box.value('const nothing = 1;')).toBeNull();
    expect(await box.value(result('undefined'))).toBeNull();
  });

  test.each([
    ['a function', '() => 1'],
    ['a symbol', 'Symbol("s")'],
    ['a BigInt', '10n'],
    ['a cycle', '(() => { const a = {}; a.a = a; return a })()'],
    ['a throwing getter', '({ get a() { throw new Error("got") } })'],
    ['a throwing toJSON', '({ toJSON() { throw new Error("json") } })'],
    ['a revoked proxy', '(() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy })()'],
  ])('%s as result is a diagnostic, not a crash [A5]', async (_, expression) => {
    expect(await failure(result(expression))).toMatchObject({ kind: 'not_serializable' });
  });

  test.each([
    ['throw new RangeError("far")', { kind: 'exception', name: 'RangeError', message: 'far' }],
    ['throw "text"', { kind: 'exception', message: expect.stringContaining('text') }],
    ['throw null', { kind: 'exception', message: expect.stringContaining('null') }],
    ['throw { a: 1 }', { kind: 'exception', message: expect.stringContaining('{"a":1}') }],
    ['Promise.reject(new Error("lost"))', { kind: 'exception', message: 'lost' }],
    ['setTimeout(() => { throw new Error("late") }, 1)', { kind: 'exception', message: 'late' }],
    [
      'await Promise.any([Promise.reject(new Error("inner"))])',
      { kind: 'exception', name: 'AggregateError', message: expect.stringContaining('inner') },
    ],
    [
      'throw new Error("outer", { cause: new Error("deep") })',
      { kind: 'exception', message: 'outer (caused by Error: deep)' },
    ],
    ['const x = {', { kind: 'syntax' }],
    ['let a = 1; let a = 2;', { kind: 'syntax', position: { line: 1, column: 16 } }],
    ['return 1', { kind: 'syntax', hint: expect.stringContaining('__codemode_result__') }],
    ['await new Promise(() => {})', { kind: 'never_settled', message: expect.stringContaining('nothing can settle') }],
  ])('%s is a failure with a place and a reason [A11, A12]', async (source, expected) => {
    expect(await failure(source)).toMatchObject(expected);
  });

  test('a rejection that is handled later is not a failure', async () => {
    expect(
      await box.value(`const p = Promise.reject(new Error('x')); await 0; p.catch(() => {}); ${result('1')}`),
    ).toBe(1);
  });

  test('logs up to a failure are kept [A12]', async () => {
    const { logs, outcome } = await box.run('console.log("before"); throw new Error("x")');
    expect(outcome.status).toBe('failed');
    expect(logs).toEqual([{ level: 'log', message: 'before', timeMs: expect.any(Number) }]);
  });

  test('a program waits for its timers and calls before it ends, awaited or not', async () => {
    const seen: unknown[] = [];
    const functions = { note: (input: unknown) => void seen.push(input) };
    await box.value(
      `import { note } from '@codemode/servers/test'; setTimeout(() => note('timer'), 5); note('call');`,
      { functions },
    );
    expect(seen.sort()).toEqual(['call', 'timer']);
  });

  test.each([
    ['fetch("https://x")', 'no network'],
    ['require("fs")', 'import * as server'],
    ['process.env', 'no environment'],
    ['setInterval(() => {}, 1)', 'setTimeout'],
    ['Buffer.from("x")', 'Uint8Array'],
    ['mcp.github.list()', '@codemode/servers'],
    ['tools.search("x")', '@codemode/discovery'],
  ])('%s gets a hint with the right call', async (source, hint) => {
    expect((await failure(source)).hint).toContain(hint);
  });
});
