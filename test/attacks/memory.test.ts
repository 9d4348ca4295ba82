import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Jail } from '../../src/sandbox/jail/jail.js';
import { openSandbox, result, type TestSandbox, testJail } from '../support/sandbox.js';

/** Memory caps that do not cap: kinds of memory an engine forgets to count, and many small programs in one process. */

const MEBIBYTE = 1024 * 1024;
const SMALL = { limits: { maxMemoryBytes: 8 * MEBIBYTE, timeoutMs: 20_000 } };

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 1 });
});
afterAll(() => box[Symbol.asyncDispose]());

describe('every kind of memory counts, and going past it cannot be survived', () => {
  test.each([
    ['a resizable buffer', `const b = new ArrayBuffer(1, { maxByteLength: 2 ** 30 }); b.resize(2 ** 29)`],
    [
      'buffers that grow by transfer',
      `let b = new ArrayBuffer(1e6); const a = []; while (true) { b = b.transfer(b.byteLength + 1e6); a.push(b.slice(0)) }`,
    ],
    ['BigInts', `let n = 2n; while (true) n = n * n`],
    ['a string that doubles', `let s = 'ab'; while (true) s = (s + s).toUpperCase()`],
    ['padding', `'x'.padEnd(2 ** 29, 'ab')`],
    ['repetition', `'abc'.repeat(2 ** 28)`],
    ['replaceAll', `'a'.repeat(1e5).replaceAll('a', 'b'.repeat(1e4))`],
    ['split', `const a = []; while (true) a.push('a,'.repeat(1e5).split(','))`],
    ['matches of a regular expression', `const a = []; while (true) a.push([...'ab'.repeat(1e5).matchAll(/(a)(b)/g)])`],
    ['symbols', `const a = []; while (true) a.push(Symbol('s' + a.length))`],
    ['property names', `const o = {}; for (let i = 0; ; i++) o['property ' + i] = i`],
    [
      'generators',
      `const a = []; function* g() { const big = new Array(50).fill(0); yield big } while (true) { const i = g(); i.next(); a.push(i) }`,
    ],
    [
      'async functions that wait',
      `const a = []; while (true) a.push((async () => { const big = new Array(50).fill(0); await new Promise(() => {}); return big })())`,
    ],
    ['microtasks', `for (;;) queueMicrotask(() => {})`],
    ['errors with stacks', `const a = []; while (true) a.push(new Error('x'.repeat(100)))`],
    ['proxies', `const a = []; while (true) a.push(new Proxy({}, {}))`],
    ['classes', `const a = []; while (true) a.push(class { #x = 1; m() { return this.#x } })`],
    ['JSON.stringify', `const s = 'x'.repeat(1e6); JSON.stringify(new Array(200).fill(s))`],
    ['URLSearchParams', `const u = new URLSearchParams(); for (let i = 0; ; i++) u.append('k' + i, 'x'.repeat(100))`],
    ['Array.from', `Array.from({ length: 2 ** 27 }, (_, i) => ({ i }))`],
    ['flat', `let a = [1, 2, 3, 4, 5, 6, 7, 8]; for (let i = 0; i < 12; i++) a = [a, a, a, a]; a.flat(Infinity)`],
    ['spreading', `let a = [1]; while (true) a = [...a, ...a]`],
    ['an array with a huge length that is filled', `new Array(2 ** 27).fill(1)`],
  ])('%s [A7, A35]', async (_, code) => {
    const { outcome } = await box.run(
      `try { ${code} } catch (error) { globalThis.__codemode_result__ = 'survived ' + error }`,
      SMALL,
    );
    // A few are refused by the language itself before any memory is taken; none gets it.
    const isRefused =
      outcome.status === 'completed' && /survived (RangeError|InternalError|TypeError)/.test(outcome.resultJson);
    if (!isRefused) expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'limit', limit: 'memory' } });
    expect(await box.value(result('1'))).toBe(1);
  });

  test('a result of a call that does not fit ends the program, and is not half there', async () => {
    const big = 'x'.repeat(24 * MEBIBYTE);
    const { outcome } = await box.run(
      `import { big } from '@codemode/servers/test'; try { await big() } catch { } ${result('"survived"')}`,
      { ...SMALL, functions: { big: () => big } },
    );
    expect(outcome).toMatchObject({ failure: { kind: 'limit', limit: 'memory' } });
    expect(await box.value(result('1'))).toBe(1);
  });
});

describe('the host’s own memory', () => {
  test('one string sent in many calls that stay open ends the program before it fills the host [A35]', async () => {
    const received: number[] = [];
    const { report } = await box.sandbox.start(
      {
        caller: 'tester' as never,
        program: box.program(
          `import { keep } from '@codemode/servers/test'; const big = 'x'.repeat(4 * 2 ** 20); for (let n = 0; n < 1_000; n++) keep(big);`,
          { functions: { keep: () => null }, limits: { timeoutMs: 20_000 } },
        ),
      },
      { onCall: (call) => (received.push(call.argumentsJson.length), new Promise(() => {})) },
    );
    expect((await report).outcome).toMatchObject({
      failure: { kind: 'limit', limit: 'output', message: expect.stringContaining('arguments') },
    });
    expect(received.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(64 * MEBIBYTE);
  });

  test('calls that are answered one after the other may send as much as they like', async () => {
    const value = await box.value(
      `import { keep } from '@codemode/servers/test'; const big = 'x'.repeat(8 * 2 ** 20); for (let n = 0; n < 9; n++) await keep(big); ${result('"through"')}`,
      { functions: { keep: () => null } },
    );
    expect(value).toBe('through');
  });

  test('results without end are refused at a bound, not collected forever', async () => {
    const json = Buffer.from(JSON.stringify('x'.repeat(24 * MEBIBYTE)));
    let given = 0;
    const { report } = await box.sandbox.start(
      {
        caller: 'tester' as never,
        program: box.program(`import { more } from '@codemode/servers/test'; for (;;) await more();`, {
          functions: { more: () => null },
          limits: { timeoutMs: 60_000, maxMemoryBytes: 128 * MEBIBYTE },
        }),
      },
      // The same bytes each time: the test does not need the memory that it proves the host would not take.
      { onCall: async () => (given++, { ok: true, json }) },
    );
    expect((await report).outcome).toMatchObject({ failure: { kind: 'limit', limit: 'output' } });
    expect(given).toBeLessThanOrEqual(23);
  });
});

describe('the limit of the process, behind the limit of each program', () => {
  /** The same jail with less memory for a worker, so that a few programs reach what hundreds would. */
  const smallWorkers = async (dataBytes: number): Promise<Jail> => {
    const jail = await testJail();
    return {
      ...jail,
      spawn: (program) => jail.spawn({ ...program, limits: { ...program.limits, dataBytes } }),
    };
  };

  test("many programs within their own limits cannot exceed the worker's; the host keeps serving [A35]", async () => {
    await using crowded = await openSandbox({ max: 2 }, undefined, await smallWorkers(256 * MEBIBYTE));
    const hog = `import { hold } from '@codemode/servers/test'; const kept = []; for (let n = 0; n < 45; n++) kept.push(new Uint8Array(2 ** 20).fill(1)); await hold(); ${result('kept.length')}`;
    const functions = { hold: () => new Promise((resolve) => setTimeout(() => resolve(null), 300)) };
    const hogs = Array.from({ length: 10 }, () => crowded.run(hog, { functions }));
    const reports = await Promise.all(hogs);
    for (const { outcome } of reports) {
      if (outcome.status === 'completed') expect(outcome.resultJson).toBe('45');
      else expect(['limit', 'worker_lost']).toContain(outcome.failure.kind);
    }
    expect(await crowded.value(result('"served"'), { caller: 'alice' })).toBe('served');
    // Their own worker serves as soon as V8 has collected the memory of those that ended.
    await expect.poll(() => crowded.value(result('"served"')).catch(String)).toBe('served');
  });

  test('another caller’s programs do not share that memory', async () => {
    await using crowded = await openSandbox({ max: 2 }, undefined, await smallWorkers(256 * MEBIBYTE));
    const hog = `const kept = []; for (let n = 0; n < 50; n++) kept.push(new Uint8Array(2 ** 20).fill(1)); await new Promise((resolve) => setTimeout(resolve, 200)); ${result('1')}`;
    const hogs = Array.from({ length: 8 }, () => crowded.run(hog, { caller: 'mallory' }));
    const alice = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        crowded.value(`const kept = new Uint8Array(20 * 2 ** 20).fill(1); ${result(`kept.length + ${index}`)}`, {
          caller: 'alice',
        }),
      ),
    );
    expect(alice).toEqual(Array.from({ length: 10 }, (_, index) => 20 * MEBIBYTE + index));
    await Promise.all(hogs);
  });
});
