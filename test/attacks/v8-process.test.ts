import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { afterAll, describe, expect, test } from 'vitest';
import type { CallerId } from '../../src/domain/run.js';
import { engineOf } from '../../src/sandbox/journal/journal.js';
import { openTakenOver, type TakenOver } from '../support/hostile-worker.js';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/**
 * The V8 process is the attacker's. While the run's own engine computes, it may say only what the journal says; a lie ends
 * it, and the run continues as if there had been no second process.
 */
const PROGRAM = `import { ask } from '@codemode/servers/test'; const a = await ask('mine');
  let n = 0; for (let i = 0; i < 2e6; i++) n = (n + i) % 7; ${result('[a, await ask("last")]')}`;
const RIGHT = { status: 'completed', resultJson: '["mine","last"]' };
const ENDED = `end(execution, '"forged"')`;

/** Each is said by the next process of the attacker's, after it was given the program and its journal. */
const LIES: readonly (readonly [attempt: string, act: string])[] = [
  ['ends before it has made the calls of the journal', ENDED],
  ['makes a call that was not made', `call(execution, 1, 'test/ask', '["other"]')`],
  ['makes a call of another tool', `call(execution, 1, 'test/other', '["mine"]')`],
  ['skips a call', `call(execution, 2, 'test/ask', '["forged"]')`],
  ['makes a call twice', `call(execution, 1, 'test/ask', '["mine"]'); call(execution, 1, 'test/ask', '["mine"]')`],
  ['fails', `end(execution, '', { failure: { kind: 'exception', name: 'Error', message: 'forged' } })`],
  ['hands over an image', `send({ type: 'execution/suspended', execution }, 'forged')`],
  ['tells that it computes', `send({ type: 'execution/computing', execution })`],
  ['answers for another run', `end('another-run', '"forged"')`],
  ['sends noise', `write(require('node:crypto').randomBytes(1_000))`],
  ['dies', `process.exit(0)`],
];

let box: TakenOver | undefined;
let plain: TestSandbox | undefined;
afterAll(async () => {
  await box?.[Symbol.asyncDispose]();
  await plain?.[Symbol.asyncDispose]();
});

describe('a V8 process that lies while a run is replayed in it', () => {
  test('changes nothing of the run, whatever it says', async () => {
    const acts = LIES.map(([, act]) => `({ execution }) => { ${act}; }`);
    box = await openTakenOver(
      `hello(); const acts = [${acts.join()}]; acts[Number(process.argv[2]) % acts.length](wait('execution/start')); silence();`,
      {
        role: 'v8',
        count: 1_000,
        pool: { max: 2 },
      },
    );
    for (const [attempt] of LIES) {
      const before = box.taken();
      const asked: unknown[] = [];
      const functions = {
        ask: (input: unknown) => {
          asked.push(input);
          return input;
        },
      };
      // Until one of its processes has had its say: a spare may have been started for the one before.
      const { outcome, journal } = await box.run(PROGRAM, { functions, engine: 'auto' });
      expect([attempt, outcome, asked, engineOf(journal)]).toEqual([attempt, RIGHT, ['mine', 'last'], 'quickjs']);
      expect(box.taken()).toBeGreaterThanOrEqual(before);
    }
    expect(box.taken()).toBeGreaterThan(LIES.length / 2);
  });
});

describe('a V8 process that has a run', () => {
  test('and leaves it after a call of its own cannot have another one made: the run ends', async () => {
    await using taken = await openTakenOver(
      `hello(); const { execution } = wait('execution/start'); call(execution, 1, 'test/ask', '["forged"]');
       send({ type: 'execution/unfit', execution, reason: 'it lies' }); silence();`,
      { role: 'v8', count: 1_000, pool: { max: 1 } },
    );
    const asked: unknown[] = [];
    const functions = {
      ask: (input: unknown) => {
        asked.push(input);
        return input;
      },
    };
    const { outcome } = await taken.run(PROGRAM, { functions, engine: 'v8' });
    expect(outcome).toMatchObject({ failure: { message: expect.stringContaining('different calls in QuickJS') } });
    expect(asked).toEqual(['forged']);
  });
});

describe('a program in V8', () => {
  const runs = async (source: string) => {
    plain ??= await openSandbox({ max: 1 });
    return (await plain.run(source, { engine: 'v8', limits: { timeoutMs: 5_000 } })).outcome;
  };

  test('reaches Node by no route that is known, and does not end its process where it gets far', async () => {
    const source = `
      const attempt = (act) => { try { const value = act(); return value === undefined ? 'nothing' : typeof value; } catch (error) { return 'refused'; } };
      const sites = () => { const before = Error.prepareStackTrace; Error.prepareStackTrace = (_, list) => list; return new Error().stack[0]?.getThis; };
      ${result(`{
        process: attempt(() => globalThis.process), require: attempt(() => globalThis.require), global: attempt(() => globalThis.global),
        byFunction: attempt(() => (() => {}).constructor('return process')()),
        byError: attempt(() => { try { null.x } catch (error) { return error.constructor.constructor('return process')() } }),
        byPromise: attempt(() => Promise.resolve().constructor.constructor('return process')()),
        byLog: attempt(() => console.log.constructor('return process')()),
        bySites: attempt(sites),
        wasm: attempt(() => globalThis.WebAssembly), shared: attempt(() => globalThis.SharedArrayBuffer),
        symbols: Object.getOwnPropertySymbols(globalThis).length,
      }`)}`;
    expect(await runs(source)).toMatchObject({ status: 'completed' });
    const { resultJson } = (await runs(source)) as { resultJson: string };
    expect(JSON.parse(resultJson)).toEqual({
      ...{ process: 'nothing', require: 'nothing', global: 'nothing', wasm: 'nothing', shared: 'nothing', symbols: 1 },
      ...{ byFunction: 'refused', byError: 'refused', byPromise: 'refused', byLog: 'refused', bySites: 'refused' },
    });
  });

  test('that fills memory beside the heap is refused or ends at its limit', async () => {
    const outcome = await runs('const all = []; for (;;) all.push(new Uint8Array(16 * 1024 * 1024).fill(1));');
    expect(outcome).toMatchObject({ status: 'failed' });
    if (outcome.status === 'failed') expect(['exception', 'limit']).toContain(outcome.failure.kind);
  });
});

describe('processes of V8', () => {
  const forever = { engine: 'v8', limits: { timeoutMs: 6_000 } } as const;

  test("held by one caller's runs do not block other callers, nor do runs that ended in the queue", async () => {
    await using box = await openSandbox({ max: 1 });
    const { sandbox } = box;
    const begin = (source: string, caller: string, signal?: AbortSignal) =>
      sandbox.start(
        { caller: caller as CallerId, program: box.program(source, forever), ...(signal && { signal }) },
        box.handlers(),
      );
    const most = Math.max(2, availableParallelism());
    // Of the many that have no place, all are cancelled while they wait.
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const busy = Array.from({ length: most }, () => begin('for (;;);', 'mallory'));
    const first = await Promise.all(busy);
    const queued = Array.from({ length: 20 }, () => begin('for (;;);', 'mallory', over.signal).catch(() => undefined));
    let isMalloryDone = false;
    const mallory = Promise.all(first.map(({ report }) => report)).then(() => {
      isMalloryDone = true;
    });
    const bobs = async () => (await (await begin(result('1'), 'bob')).report).outcome;
    expect(await bobs()).toMatchObject({ status: 'completed' });
    over.abort();
    await Promise.all(queued);
    // The next one of mallory's waits for a place, and gets the one that comes free.
    const next = begin(result('2'), 'mallory').then(({ report }) => report);
    expect([await bobs(), isMalloryDone]).toMatchObject([{ status: 'completed' }, false]);
    for (const { run } of first) run.cancel();
    expect((await next).outcome).toMatchObject({ status: 'completed' });
    await mallory;
  });
});
