import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Failure } from '../../src/domain/run.js';
import { deferred } from '../../src/lib/async/deferred.js';
import { decodeJournal, encodeJournal } from '../../src/sandbox/journal/journal.js';
import type { RunReport } from '../../src/sandbox/run-report.js';
import {
  CALLER,
  CallFailure,
  openSandbox,
  ProgramEnd,
  type ProgramOptions,
  type TestSandbox,
} from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const SCRIPT = { script: {} };
const endOf = ({ outcome }: RunReport): unknown =>
  outcome.status === 'completed' ? JSON.parse(outcome.resultJson) : outcome.failure;
const end = async (source: string, options: ProgramOptions = {}): Promise<unknown> =>
  endOf(await box.run(source, { ...SCRIPT, ...options }));
const call_tool = (input: unknown) => ({ ok: true, result: input });

describe('where a script fails', () => {
  test.each<[string, ProgramOptions, number, number]>([
    ['null.x', {}, 1, 1],
    ['   null.x', {}, 1, 4],
    ['"é"; null.x', {}, 1, 6],
    ['"😀😀"; null.x', {}, 1, 9],
    ['var a = 1;\n  a.b.c;', {}, 2, 3],
    ['if (0) return 1; null.x', {}, 1, 18],
    ['if (0) return; null.x', {}, 1, 16],
    ['return null.x', {}, 1, 8],
    ['"use strict"; if (0) return 1; undeclared = 1', {}, 1, 32],
    ['if (0) return "😀";\nif (0) return 2; /* é */ null.x', {}, 2, 26],
    ['#!/bin/x\nnull.x', {}, 2, 1],
    ['const a: number = 1; null!.x', { language: 'typescript' }, 1, 22],
    ['type A = 1;\n\nif (1 as number) return (null as any).x', { language: 'typescript' }, 3, 26],
    [
      'interface A {\n a: 1 }\nfunction f(a: A): void { throw new Error("x") }\nif (0) return; f({ a: 1 })',
      { language: 'typescript' },
      3,
      36,
    ],
  ])('is reported in the lines and columns of the original source: %s [D4]', async (source, options, line, column) => {
    expect(await end(source, options)).toMatchObject({ kind: 'exception', position: { line, column } });
  });

  test('its stack is in the same positions, and the script can read it [D4]', async () => {
    const source = 'function inner() { null.x }\nfunction outer() {\n  inner();\n}\nif (0) return;\nouter();';
    const stack =
      "TypeError: cannot read property 'x' of null\n    at inner (main.ts:1:20)\n    at outer (main.ts:3:3)\n    at <eval> (main.ts:6:1)";
    expect(await end(source)).toMatchObject({ stack });
    expect(await end(source.replace('outer();', 'try { outer() } catch (e) { e.stack }'))).toBe(
      stack.replace('6:1', '6:7'),
    );
  });

  test.each<[string, ProgramOptions, number, number]>([
    ['var a = ;', {}, 1, 9],
    ['"é"; return 5; var a = ;', {}, 1, 24],
    ['const a: number = 1', {}, 1, 7],
    ['let a; let a', {}, 1, 12],
    ['import x from "y"', {}, 1, 1],
    ['5; export const a = 1', {}, 1, 4],
    ['return 1; export const a = 1', {}, 1, 11],
    ['await 5', {}, 1, 1],
    ['import.meta', {}, 1, 1],
    ['"use strict"; with ({}) {}', {}, 1, 15],
    ['class A { static { return 5 } }', {}, 1, 20],
    ['import x from "y"', { language: 'typescript' }, 1, 8],
    ['export const a: number = 1', { language: 'typescript' }, 1, 1],
    ['const a: = 1', { language: 'typescript' }, 1, 10],
  ])('as no script at all, it runs no part of it: %s', async (source, options, line, column) => {
    const before = box.calls.length;
    const functions = { call_tool };
    expect(await end(`${source}\n;call_tool()`, { ...options, functions })).toMatchObject({
      kind: 'syntax',
      position: { line, column },
    });
    expect(box.calls).toHaveLength(before);
  });
});

describe('the world of a script', () => {
  test('has its input as a plain value, whatever its keys are [D3]', async () => {
    const input = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2, "a": [{"b": null}], "ü😀": "\\u2028"}');
    expect(
      await end('[Object.keys(input), input.polluted, ({}).polluted, input.a[0].b, input["ü😀"]]', {
        script: { input },
      }),
    ).toEqual([['__proto__', 'constructor', 'a', 'ü😀'], null, null, null, '\u2028']);
    expect(
      await end('input = 5; var input; let call_tool = 6; [input, call_tool]', { functions: { call_tool } }),
    ).toEqual([5, 6]);
    expect(await end('Object.getPrototypeOf(input) === Object.prototype && input.x === undefined')).toBe(true);
  });

  test('takes an input of megabytes, and has it again after a restart', async () => {
    const input = { text: 'ü'.repeat(2 ** 21), list: Array.from({ length: 10_000 }, (_, index) => index) };
    expect(await end('[input.text.length, input.list.length, input.mark]; ', { script: { input } })).toEqual([
      2 ** 21,
      10_000,
      null,
    ]);
    const tooLarge = { text: 'x'.repeat(2 ** 25) };
    await expect(box.run('1', { script: { input: tooLarge } })).rejects.toMatchObject({ code: 'bad_input' });
  });

  test.each([
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'fetch',
    'process',
    'require',
    'module',
    'Buffer',
    'eval',
    '__codemode_result__',
  ])('has no %s [D7]', async (name) => {
    expect(await end(`typeof ${name}`)).toBe('undefined');
  });

  test('says what to do instead of what is not there [D7]', async () => {
    for (const name of ['fetch', 'require', 'process', 'setTimeout']) {
      const failure = (await end(`${name}('x')`)) as Failure;
      expect(failure).toMatchObject({ kind: 'exception', name: 'ReferenceError', hint: expect.any(String) });
      expect(failure.hint).not.toMatch(/import|__codemode_result__/);
    }
  });

  test('makes no code from strings and loads no modules [D7]', async () => {
    for (const source of [
      'Function("return 1")()',
      '(() => {}).constructor("return 1")()',
      '(async () => {}).constructor("1")',
    ])
      expect(await end(source)).toMatchObject({
        kind: 'exception',
        message: expect.stringContaining('code cannot be made from strings'),
      });
    for (const name of ['@codemode/errors', 'codemode:bindings', 'main.ts', 'node:fs', './x.js'])
      expect(await end(`import('${name}')`)).toMatchObject({
        kind: 'exception',
        message: expect.stringContaining('a script has no modules'),
      });
  });

  test('has a console', async () => {
    const { logs } = await box.run('console.log("a", { b: 1 }); 1', SCRIPT);
    expect(logs.map(({ message }) => message)).toEqual(['a {"b":1}']);
  });
});

describe('a call of a script', () => {
  test('blocks it, under its own name and with all of its arguments [D2]', async () => {
    const from = box.calls.length;
    const functions = { call_tool };
    const source = 'var all = []; for (var n of [1, 2]) all.push(call_tool(n, "b", { c: [n] }).result); all';
    expect(await end(source, { functions })).toEqual([1, 2]);
    expect(box.calls.slice(from).map(({ number, target, argumentsJson }) => [number, target, argumentsJson])).toEqual([
      [1, 'call_tool', '[1,"b",{"c":[1]}]'],
      [2, 'call_tool', '[2,"b",{"c":[2]}]'],
    ]);
    expect(
      await end('async function f(n) { await null; return call_tool(n).result } Promise.all([f(1), f(2)])', {
        functions,
      }),
    ).toEqual([1, 2]);
  });

  test('never throws: what cannot be sent is a value, and the next call is made all the same', async () => {
    const functions = { call_tool };
    const source = `var seen = [];
      var round = {}; round.self = round;
      for (var bad of [round, 1n, { toJSON() { throw new Error('mine') } }, { toJSON() { seen.push(call_tool(1).result); return 2 } }])
        { var res = call_tool(bad); seen.push(res.ok === false ? res.error : res.result) }
      seen`;
    const unfit = (reason: string) => ({ code: 'INVALID_ARGS', message: `call_tool was not called: ${reason}` });
    expect(await end(source, { functions })).toEqual([
      unfit('a circular reference at /self is not JSON. Leave it out.'),
      unfit('a BigInt is not JSON. Pass String(value).'),
      unfit('its arguments cannot be written as JSON (mine)'),
      1,
      2,
    ]);
  });

  test('arguments that JSON would change are refused as a value [D2]', async () => {
    const source = 'var res = [NaN, new Map(), function () {}].map((a) => call_tool("s", "t", { a: a })); res';
    const refused = (what: string, hint: string) => ({
      ok: false,
      error: { code: 'INVALID_ARGS', message: `call_tool was not called: ${what} at /a is not JSON. ${hint}` },
    });
    expect(await end(source, { functions: { call_tool } })).toEqual([
      refused('NaN', 'Pass a finite number.'),
      refused('a Map', 'Pass Object.fromEntries(map).'),
      refused('a function', 'Leave it out.'),
    ]);
  });

  test('an error of the host is a value too', async () => {
    const functions = {
      call_tool: () => {
        throw new CallFailure('not today');
      },
    };
    expect(await end('call_tool()', { functions })).toEqual({
      ok: false,
      error: { message: 'not today', code: 'CALL_FAILED' },
    });
  });

  const CATCHES =
    'try { try { call_tool() } catch { survived() } finally { survived() } } finally { survived() } survived();';
  const FORBIDDEN: Failure = {
    kind: 'forbidden',
    name: 'Error',
    message: 'this server is not allowed',
    hint: 'Use another.',
  };
  const ENDS: readonly [string, string][] = [
    ['in the open', CATCHES],
    ['with a return', `if (1) { ${CATCHES} return 1 }`],
    ['in a promise', `Promise.resolve().then(() => { ${CATCHES} }).catch(survived).finally(survived)`],
    ['in an async function', `(async () => { ${CATCHES} })().finally(survived)`],
    [
      'in a generator',
      `for (var x of (function* () { try { yield call_tool() } finally { survived() } })()) survived()`,
    ],
    ['in a toJSON', `call_tool; JSON.stringify({ toJSON: () => { ${CATCHES} } })`],
    ['in a getter of the value', `({ get a() { ${CATCHES} } })`],
  ];

  test.each(ENDS)(
    'ends the script where the host says so, and nothing of it runs any more: %s [D5]',
    async (_, source) => {
      await using alone = await openSandbox({ min: 1, max: 1 });
      const from = alone.calls.length;
      const functions = {
        survived: () => null,
        call_tool: () => {
          throw new ProgramEnd(FORBIDDEN);
        },
      };
      const report = await alone.run(source, { ...SCRIPT, functions });
      expect(endOf(report)).toEqual(FORBIDDEN);
      const [worker] = alone.sandbox.pool.workers;
      // The same process takes the next program: it was told, and unwound the script.
      expect(await alone.value('1 + 1', SCRIPT)).toBe(2);
      expect(alone.sandbox.pool.workers).toEqual([worker]);
      expect(alone.calls.slice(from).map(({ target }) => target)).toEqual(['call_tool']);
    },
  );

  test('ends a module in the same way [D5]', async () => {
    const functions = {
      stop: () => {
        throw new ProgramEnd({ kind: 'limit', limit: 'calls', name: 'SandboxLimitError', message: 'no more calls' });
      },
    };
    const source =
      "import * as test from '@codemode/servers/test'; try { await test.stop() } finally { console.log('survived') }";
    for (const isBlocking of [false, true]) {
      const report = await box.run(source, { functions, isBlocking });
      expect(endOf(report)).toMatchObject({ kind: 'limit', limit: 'calls' });
      expect(report.logs).toEqual([]);
    }
  });

  test.each(ENDS.slice(0, 4))(
    'ends with the time of its script, which cannot catch that: %s [D5]',
    async (_, source) => {
      const from = box.calls.length;
      const told = deferred<void>();
      const functions = {
        survived: () => null,
        call_tool: (_input: unknown, _call: unknown, signal: AbortSignal) => {
          signal.addEventListener('abort', () => told.resolve());
          return new Promise(() => {});
        },
      };
      expect(await end(source, { functions, limits: { timeoutMs: 500 } })).toMatchObject({
        kind: 'limit',
        limit: 'timeout',
      });
      await told.promise;
      expect(await end('1 + 1')).toBe(2);
      expect(box.calls.slice(from).map(({ target }) => target)).toEqual(['call_tool']);
    },
  );

  test('does not give a script time or memory beyond its own [D5]', async () => {
    const loops = 'try { for (;;); } catch { 1 } finally { 2 }';
    expect(await end(loops, { limits: { timeoutMs: 150 } })).toMatchObject({ kind: 'limit', limit: 'timeout' });
    expect(await end(`if (0) return; ${loops}`, { limits: { timeoutMs: 150 } })).toMatchObject({ limit: 'timeout' });
    const fills = 'var all = []; try { for (;;) all.push("x".repeat(1e6) + all.length) } catch { 1 } finally { 2 }';
    expect(await end(fills, { limits: { maxMemoryBytes: 2 ** 24 } })).toMatchObject({ kind: 'limit', limit: 'memory' });
    const input = { list: Array.from({ length: 200_000 }, (_, n) => ({ n })) };
    expect(await end('1', { script: { input }, limits: { maxMemoryBytes: 2 ** 23 } })).toMatchObject({
      kind: 'limit',
      limit: 'memory',
    });
    expect(await end('function f() { f() } f()')).toMatchObject({
      kind: 'exception',
      message: expect.stringContaining('stack'),
    });
  });
});

describe('a script and its worker', () => {
  test('continues in another worker when its own is lost, and makes no call twice', async () => {
    await using pool = await openSandbox({ min: 1, max: 2 });
    const go = deferred<void>();
    const arrived = deferred<void>();
    const functions = {
      call_tool: async (input: unknown) => {
        if (input !== 'second') return `${input}!`;
        arrived.resolve();
        await go.promise;
        return 'late';
      },
    };
    const source =
      'var r = Math.random(); var a = call_tool(input.first); var b = call_tool("second"); return [a, b, call_tool(r) === r + "!"]';
    const run = pool.run(source, { script: { input: { first: 'first' } }, functions });
    await arrived.promise;
    for (const worker of pool.sandbox.pool.workers) worker.process.kill('by the test');
    await pause(20);
    go.resolve();
    expect(endOf(await run)).toEqual(['first!', 'late', true]);
    expect(pool.calls.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test('comes out the same when its journal is played again, from text [D3]', async () => {
    const functions = { call_tool: (input: unknown) => ({ input, at: 1 }) };
    const source = 'var a = call_tool(Math.random()); if (input.n > 1) return [a, Date.now(), input]; 0';
    const { journal, outcome } = await box.run(source, { script: { input: { n: 2 } }, functions });
    const again = await box.sandbox.replay(decodeJournal(encodeJournal(journal)), CALLER);
    expect(again).toMatchObject({ divergence: undefined, report: { outcome } });
  });

  test('ends the same in a replay where an answer ended it', async () => {
    const functions = {
      call_tool: (input: unknown) => {
        if (input === 2)
          throw new ProgramEnd({ kind: 'limit', limit: 'calls', name: 'SandboxLimitError', message: 'no more' });
        return input;
      },
    };
    const { journal, outcome } = await box.run('call_tool(1); try { call_tool(2) } catch { 3 }', {
      ...SCRIPT,
      functions,
    });
    expect(outcome).toMatchObject({ failure: { limit: 'calls' } });
    const again = await box.sandbox.replay(decodeJournal(encodeJournal(journal)), CALLER);
    expect(again).toMatchObject({ divergence: undefined, report: { outcome } });
  });

  test('cannot be suspended', async () => {
    const arrived = deferred<void>();
    const go = deferred<void>();
    const functions = {
      call_tool: () => {
        arrived.resolve();
        return go.promise;
      },
    };
    const options = { ...SCRIPT, functions };
    const { run, report } = await box.sandbox.start(
      { caller: CALLER, program: box.program('call_tool(); 1', options) },
      box.handlers(options),
    );
    await arrived.promise;
    expect(() => run.suspend()).toThrow('a program with blocking calls cannot be suspended');
    go.resolve();
    expect(endOf(await report)).toBe(1);
  });
});
