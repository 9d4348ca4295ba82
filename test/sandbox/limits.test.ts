import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOG_ENTRY_BYTES } from '../../src/domain/limits.js';
import { openSandbox, result, type TestSandbox, testEngine } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const QUICK = { limits: { timeoutMs: 300 } };

describe('time', () => {
  test.each([
    ['a loop', 'while (true) {}'],
    ['a loop inside try', 'try { while (true) {} } catch { globalThis.__codemode_result__ = "caught" }'],
    ['a loop inside finally', 'try { throw 1 } finally { while (true) {} }'],
    [
      'a loop in an async function',
      'await (async () => { try { while (true) {} } catch { globalThis.__codemode_result__ = "caught" } })()',
    ],
    ['a flood of microtasks', 'const again = () => { queueMicrotask(again) }; again(); await new Promise(() => {})'],
    ['an endless generator', 'function* g() { while (true) yield 1 } for (const _ of g()) {}'],
    ['an endless chain of timers', 'const again = () => setTimeout(again, 1); again(); await new Promise(() => {})'],
    ['a catastrophic regular expression', '/^(a+)+$/.test("a".repeat(40) + "b")'],
    ['a call that never answers', 'import { never } from "@codemode/servers/test"; await never()'],
    ['a loop in a getter of the result', 'globalThis.__codemode_result__ = { get a() { while (true) {} } }'],
    ['a loop in toString of an error', 'throw new (class extends Error { get message() { while (true) {} } })()'],
  ])('%s ends at the time limit and cannot be caught [A7, A35]', async (_, source) => {
    const { outcome } = await box.run(source, { ...QUICK, functions: { never: () => new Promise(() => {}) } });
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: {
        kind: 'limit',
        limit: 'timeout',
        name: 'SandboxLimitError',
        message: expect.stringContaining('300 ms'),
      },
    });
  });

  // V8 searches in another way, and has nothing that takes as long.
  if (testEngine() === 'quickjs')
    test('a built-in that the engine cannot interrupt is killed, and the next program runs [A35]', async () => {
      const stuck = box.run(`("a".repeat(4e6) + "b").indexOf("a".repeat(2e6) + "c")`, QUICK);
      expect((await stuck).outcome).toMatchObject({ status: 'failed', failure: { kind: 'limit', limit: 'timeout' } });
      expect(await box.value(result('1'))).toBe(1);
    });

  test('calls in flight are told to stop when the program is ended', async () => {
    let aborted = false;
    const never = (_: unknown, __: unknown, signal: AbortSignal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve(null);
        }),
      );
    await box.run('import { never } from "@codemode/servers/test"; await never()', { ...QUICK, functions: { never } });
    expect(aborted).toBe(true);
  });
});

describe('memory', () => {
  const SMALL = { limits: { maxMemoryBytes: 16 * 1024 * 1024, timeoutMs: 20_000 } };
  test.each([
    ['arrays', 'const a = []; while (true) a.push(new Array(1e4).fill(0))'],
    ['strings', 'const a = []; while (true) a.push("x".repeat(1e5) + a.length)'],
    [
      'ropes',
      'let s = "abcdefgh"; const a = []; while (true) { s = s + a.length + s.slice(0, 1e5); a.push(s.slice(1)) }',
    ],
    ['typed arrays', 'const a = []; while (true) a.push(new Uint8Array(1e5))'],
    ['one array buffer', 'new ArrayBuffer(5e8)'],
    ['maps', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })'],
    ['sets of strings', 'const s = new Set(); for (let i = 0; ; i++) s.add("k" + i)'],
    ['objects', 'const o = {}; for (let i = 0; ; i++) o["k" + i] = { i }'],
    [
      'closures',
      'let f = () => 0; while (true) { const g = f; const big = new Array(100).fill(0); f = () => [g, big] }',
    ],
    ['promises', 'const a = []; while (true) a.push(new Promise(() => {}))'],
    [
      'JSON text',
      'const big = JSON.stringify(new Array(1e6).fill("abcdefgh")); JSON.parse("[" + new Array(50).fill(big).join() + "]")',
    ],
    ['template strings', 'let s = "x".repeat(1e6); while (true) s = `${s}${s.slice(0, 5e5)}`'],
    ...(testEngine() === 'v8' ? [] : [['a join', 'new Array(1e8).join("abc")'] satisfies [string, string]]),
    ['timers', 'while (true) setTimeout(() => {}, 1e6)'],
  ])('%s past the limit end the program, and cannot be survived [A7, A35]', async (_, code) => {
    const { outcome } = await box.run(
      `try { ${code} } catch (error) { globalThis.__codemode_result__ = 'survived ' + error }`,
      SMALL,
    );
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { kind: 'limit', limit: 'memory', message: expect.stringContaining('16777216 bytes') },
    });
  });

  test('regular expressions stay within the limit, and the worker continues [A35]', async () => {
    const code = 'const a = []; while (true) a.push(new RegExp("(" + "a?".repeat(2000) + ")" + a.length))';
    const { outcome } = await box.run(code, SMALL);
    expect(outcome).toMatchObject({ status: 'failed', failure: { message: expect.stringMatching(/memory/) } });
    expect(await box.value(result('1'))).toBe(1);
  });

  test('a program within its limit is not bothered, whatever the one before it did', async () => {
    const half = `const a = []; for (let i = 0; i < 80; i++) a.push(new Uint8Array(1e5)); ${result('a.length')}`;
    expect(await box.value(half, SMALL)).toBe(80);
  });
});

describe('depth', () => {
  test.each([
    ['functions', '(function g() { g() })()'],
    ['JSON.parse', 'JSON.parse("[".repeat(2e5) + "]".repeat(2e5))'],
    ['JSON.stringify', 'let a = []; for (let i = 0; i < 5e3; i++) a = [a]; JSON.stringify(a)'],
    ['toString', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)'],
    ['proxies', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x'],
    ['sort', 'const f = () => [1, 2].sort(f); f()'],
    ['replace', 'const f = () => "x".replace("x", f); f()'],
    ['getters', 'const o = { get a() { return this.a } }; o.a'],
    ['a regular expression', 'new RegExp("(?:".repeat(1e5) + ")".repeat(1e5))'],
    ['structuredClone', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a)'],
    ['console.log', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; console.log(a)'],
    ['iterators', 'let i = [1].values(); for (let n = 0; n < 1e4; n++) i = i.map((x) => x); i.next()'],
    ['async functions', 'const f = async () => { await f() }; await f()'],
  ])('endless depth in %s ends at worst that program, and the worker continues [A35]', async (_, code) => {
    await box.run(`try { ${code} } catch (error) { globalThis.__codemode_result__ = String(error) }`, {
      limits: { timeoutMs: 3_000 },
    });
    expect(await box.value(result('"alive"'))).toBe('alive');
  });
});

describe('logs', () => {
  test('are cut at their limit, with what fits kept, and a flood costs nobody anything [A7, A35]', async () => {
    const { logs, logsCut, outcome } = await box.run(
      `for (let i = 0; i < 1e5; i++) console.log('line', i); ${result('1')}`,
      { limits: { maxLogBytes: 1_000 } },
    );
    expect(outcome.status).toBe('completed');
    expect(logsCut).toBe(true);
    const cost = logs.reduce((sum, { message }) => sum + Buffer.byteLength(message) + LOG_ENTRY_BYTES, 0);
    expect(cost).toBeLessThanOrEqual(1_000);
    expect(cost).toBeGreaterThan(1_000 - LOG_ENTRY_BYTES - 'line 100'.length);
    expect(logs[0]?.message).toBe('line 0');
  });

  test('one message larger than the limit is shown as far as it goes', async () => {
    const { logs } = await box.run(`console.log('ü'.repeat(1000))`, { limits: { maxLogBytes: 101 + LOG_ENTRY_BYTES } });
    expect(logs.map(({ message }) => message)).toEqual(['ü'.repeat(50)]);
  });
});

test('a hundred thousand empty log entries are cut too, and the answer says so', async () => {
  const { logs, logsCut } = await box.run('for (let i = 0; i < 100_005; i++) console.log();', {
    limits: { maxLogBytes: 16 * 1024 * 1024 },
  });
  expect([logs.length, logsCut]).toEqual([100_000, true]);
});

describe('results', () => {
  test('a result too large to hand over is refused by name [A35]', async () => {
    const { outcome } = await box.run(result(`'x'.repeat(40 * 1024 * 1024)`), {
      limits: { maxMemoryBytes: 512 * 1024 * 1024 },
    });
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'limit', limit: 'output' } });
  });
});
