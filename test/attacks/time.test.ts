import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deferred } from '../../src/lib/async/deferred.js';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/** Time limits that do not fire: from inside the bindings, from what runs after the end, and from workers left behind. */

const QUICK = { timeoutMs: 120 };
const STUCK = `("a".repeat(4e6) + "b").indexOf("a".repeat(2e6) + "c")`;
const TIMED_OUT = { status: 'failed', failure: { kind: 'limit', limit: 'timeout', name: 'SandboxLimitError' } };

let shared: TestSandbox;
beforeAll(async () => {
  shared = await openSandbox({ max: 2 });
});
afterAll(() => shared[Symbol.asyncDispose]());

const PLACES: readonly (readonly [place: string, source: string])[] = [
  ['toJSON of an argument', `await echo({ toJSON() { for (;;); } })`],
  ['a getter of an argument', `await echo({ get a() { for (;;); } })`],
  ['a trap of a Proxy given as argument', `await echo(new Proxy({}, { ownKeys() { for (;;); } }))`],
  ['a trap of a Proxy given as array', `await echo(new Proxy([], { get() { for (;;); } }))`],
  ['what runs after a call’s answer', `await echo(1); for (;;);`],
  ['then of a call, with the call of another still open', `never(); await echo(1).then(() => { for (;;); })`],
  ['finally of a failed call', `try { await refuse() } finally { for (;;); }`],
  ['catch of a failed call that calls again forever', `for (;;) { try { await refuse() } catch {} }`],
  ['a call that never ends, awaited in finally', `try { throw 1 } finally { await never() }`],
  ['toJSON of the result', `globalThis.__codemode_result__ = { toJSON() { for (;;); } }`],
  ['a Proxy as the result', `globalThis.__codemode_result__ = new Proxy({}, { ownKeys() { for (;;); } })`],
  [
    'a getter for the result itself',
    `Object.defineProperty(globalThis, '__codemode_result__', { get() { for (;;); } })`,
  ],
  ['a getter of a thrown error', `throw Object.defineProperty(new Error('x'), 'hint', { get() { for (;;); } })`],
  [
    'a getter of the cause of a thrown error',
    `throw new Error('x', { cause: Object.defineProperty(new Error('y'), 'message', { get() { for (;;); } }) })`,
  ],
  ['a Proxy that is thrown', `throw new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); } })`],
  [
    'instanceof Error, patched, of a thrown value',
    `Object.defineProperty(Error, Symbol.hasInstance, { value() { for (;;); } }); throw {}`,
  ],
  [
    'the arguments of console.log',
    `console.log({ toJSON() { for (;;); }, get a() { for (;;); } }, new Proxy({}, { ownKeys() { for (;;); } }))`,
  ],
  ['a thenable that is awaited', `await { then() { for (;;); } }`],
  [
    'a constructor called by a species',
    `class Bad extends Array { static get [Symbol.species]() { for (;;); } } new Bad(3).map((x) => x)`,
  ],
  ['valueOf of a delay', `setTimeout(() => {}, { valueOf() { for (;;); } })`],
  ['toString of a specifier', `await import({ toString() { for (;;); } })`],
  [
    'an unhandled rejection with a slow reason',
    `Promise.reject(Object.defineProperty(new Error(), 'stack', { get() { for (;;); } }))`,
  ],
  ['a finalizer', `const r = new FinalizationRegistry(() => { for (;;); }); for (;;) r.register({}, 1)`],
  ['a comparison in sort', `new Array(1e5).fill(0).sort(() => { for (;;); })`],
  ['a replacer of replace', `"x".replace(/x/, () => { for (;;); })`],
  ['nested generators', `function* g() { for (;;) yield* g2() } function* g2() { yield 1 } for (const _ of g()) {}`],
  [
    'an async iterator',
    `for await (const _ of { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1, done: false }) }) }) {}`,
  ],
  [
    'the catching of every interruption',
    `const again = () => { try { for (;;); } catch { again() } finally { again() } }; again()`,
  ],
];

test.each(PLACES)('a loop in %s ends at the time limit [A7, A35]', async (_, source) => {
  const { outcome } = await shared.run(
    `import { echo, refuse, never } from '@codemode/servers/test'; ${source}; globalThis.__codemode_result__ ??= 'survived';`,
    {
      limits: QUICK,
      functions: {
        echo: (input) => input,
        refuse: () => {
          throw new Error('no');
        },
        never: () => new Promise(() => {}),
      },
    },
  );
  expect(outcome).toMatchObject(TIMED_OUT);
});

describe('programs that only a kill can stop', () => {
  test('inside toJSON called by a binding and in a timer: they end, others of the worker finish [A35]', async () => {
    await using box = await openSandbox({ max: 2 });
    const go = deferred<void>();
    const waiting = box.run(`import { wait } from '@codemode/servers/test'; await wait(); ${result('"right"')}`, {
      functions: { wait: () => go.promise },
    });
    const stuck = await Promise.all([
      box.run(`import { echo } from '@codemode/servers/test'; await echo({ toJSON() { ${STUCK} } })`, {
        limits: QUICK,
        functions: { echo: () => 1 },
      }),
      box.run(`setTimeout(() => { ${STUCK} }, 1)`, { limits: QUICK }),
    ]);
    go.resolve();
    for (const { outcome } of stuck) expect(outcome).toMatchObject(TIMED_OUT);
    expect((await waiting).outcome).toEqual({ status: 'completed', resultJson: '"right"' });
  });

  test('after too many calls, which end the program before its time: the worker is not left to it', async () => {
    await using box = await openSandbox({ max: 1 });
    const { outcome } = await box.run(
      `import { never } from '@codemode/servers/test'; for (let n = 0; n < 25_000; n++) never(); ${STUCK}`,
      { limits: { timeoutMs: 20_000 }, functions: { never: () => new Promise(() => {}) } },
    );
    expect(outcome).toMatchObject({ failure: { kind: 'limit', limit: 'output' } });
    expect(await box.value(result('1'), { limits: { timeoutMs: 5_000 } })).toBe(1);
  });
});

test('killed workers and a sandbox closed midway leave no process behind', async () => {
  const before = descendants();
  const box = await openSandbox({ max: 3 });
  const running = ['a', 'b', 'c'].flatMap((caller) => [
    box.run(STUCK, { caller, limits: QUICK }),
    box.run('for (;;);', { caller, limits: QUICK }),
  ]);
  await Promise.all(running);
  // At most: three workers and a spare; a jail is a few processes.
  void box.run('for (;;);', { limits: { timeoutMs: 60_000 } }).catch(() => {});
  await expect
    .poll(() => box.sandbox.pool.workers.some((worker) => worker.computing !== undefined), { timeout: 30_000 })
    .toBe(true);
  await box[Symbol.asyncDispose]();
  await expect.poll(() => descendants().filter((pid) => !before.includes(pid)), { timeout: 30_000 }).toEqual([]);
});

/** Every process below this one, zombies included. */
function descendants(): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended while we looked.
    }
  }
  const isBelow = (pid: number): boolean => {
    for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at))
      if (at === process.pid) return true;
    return false;
  };
  return [...parents.keys()].filter(isBelow);
}
