import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GuestCall } from '../../src/domain/run.js';
import { deferred } from '../../src/lib/async/deferred.js';
import { decodeJournal, encodeJournal, engineOf } from '../../src/sandbox/journal/journal.js';
import { CALLER, openSandbox, result, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const SOON = { timeout: 30_000 };
/** QuickJS computes it for seconds, V8 for a hundredth of that. */
const LONG = loop(4e7);
/** Long enough to be handed over, for runs that come to their end in QuickJS. */
const SHORTER = loop(3e6);
const N = 416_783;

function loop(times: number): string {
  return `let n = 0; for (let i = 0; i < ${times}; i++) n = (n + i * i) % 1000003;`;
}

/** Answers `echo` and remembers each call once per time that it was made. */
function counted() {
  const made: string[] = [];
  const functions = {
    echo: (input: unknown, call: GuestCall) => {
      made.push(`${call.number} ${JSON.stringify(input)}`);
      return input;
    },
  };
  return { made, functions };
}

const outcomeOf = (value: unknown) => ({ status: 'completed', resultJson: JSON.stringify(value) });

describe('a run in auto', () => {
  test('that computes for long continues in V8, between its calls, and makes none of them twice', async () => {
    const { made, functions } = counted();
    const source = `import { echo } from '@codemode/servers/test';
      console.log('before', Math.random() < 1, Date.now() > 1e12);
      const a = await echo('a'); ${LONG} console.log('after'); const b = await echo('b' + n); ${result('[a, b]')}`;
    const { outcome, logs, journal } = await box.run(source, { functions, engine: 'auto' });
    expect(outcome).toEqual(outcomeOf(['a', `b${N}`]));
    expect(logs.map(({ message }) => message)).toEqual(['before true true', 'after']);
    expect(made).toEqual(['1 "a"', `2 "b${N}"`]);
    expect(engineOf(journal)).toBe('v8');
    // In front of the second call, behind the answer to the first.
    expect(journal.deliveries.map(({ kind }) => kind).filter((kind) => kind !== 'clock')).toEqual([
      'result',
      'engine',
      'result',
    ]);
  });

  test('that computes for a moment stays in QuickJS', async () => {
    const { functions } = counted();
    const source = `import { echo } from '@codemode/servers/test'; ${result("await echo('a')")}`;
    const { outcome, journal } = await box.run(source, { functions, engine: 'auto' });
    expect(outcome).toEqual(outcomeOf('a'));
    expect(engineOf(journal)).toBe('quickjs');
  });

  test('leaves a paused worker to others: it is not killed, and answers the next run', async () => {
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const pids = () => box.sandbox.pool.workers.map(({ process }) => process.pid).sort();
    const before = pids();
    const { journal } = await box.run(`${LONG} ${result('n')}`, { engine: 'auto' });
    expect(engineOf(journal)).toBe('v8');
    const next = await box.run(result('1'), { engine: 'auto' });
    expect([next.outcome, pids()]).toEqual([outcomeOf(1), before]);
  });

  test('that V8 does not take is ended by its own engine, which was paused', async () => {
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const source = `const all = await Array.fromAsync([1]); ${SHORTER} ${result('all')}`;
    const { outcome, journal } = await box.run(source, { engine: 'auto' });
    expect([outcome, engineOf(journal)]).toEqual([outcomeOf([1]), 'quickjs']);
  });

  test('is handed over after more time where others need the cores', async () => {
    const offered = () => box.sandbox.handOvers?.offered ?? 0;
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const before = offered();
    box.machine.runnable = 100;
    try {
      // It asks once or twice.
      const short = await box.run(`${loop(3e5)} ${result('n')}`, { engine: 'auto' });
      expect([engineOf(short.journal), offered()]).toEqual(['quickjs', before]);
      const long = await box.run(`${LONG} ${result('n')}`, { engine: 'auto' });
      expect([engineOf(long.journal), offered()]).toEqual(['v8', before + 1]);
    } finally {
      box.machine.runnable = 1;
    }
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    await box.run(`${loop(3e5)} ${result('n')}`, { engine: 'auto' });
    expect(offered()).toBe(before + 2);
  });

  test('that receives much is replayed in V8, and its own engine gets it only where that fails', async () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, group: id % 7, note: 'x'.repeat(80) }));
    const source = (more: string) => `import { read } from '@codemode/servers/test';
      const rows = await read(); ${more} ${result('rows.filter((row) => row.group === 3).length')}`;
    const functions = { read: () => rows };
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const moved = await box.run(source(''), { functions, engine: 'auto' });
    expect([moved.outcome, engineOf(moved.journal)]).toEqual([outcomeOf(2857), 'v8']);
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const stayed = await box.run(source('rows.forEach((row) => Array.fromAsync);'), { functions, engine: 'auto' });
    expect([stayed.outcome, engineOf(stayed.journal)]).toEqual([outcomeOf(2857), 'quickjs']);
  });

  test('for which the engines differ continues in QuickJS, and the difference is counted', async () => {
    const { made, functions } = counted();
    // Columns are those of the engine.
    const source = `import { echo } from '@codemode/servers/test';
      await echo(new Error('here').stack); ${SHORTER} ${result("'done'")}`;
    const before = box.sandbox.handOvers?.diverged ?? 0;
    const { outcome, journal } = await box.run(source, { functions, engine: 'auto' });
    expect([outcome, engineOf(journal)]).toEqual([outcomeOf('done'), 'quickjs']);
    expect(made).toHaveLength(1);
    expect(box.sandbox.handOvers?.diverged).toBe(before + 1);
  });

  test.each([
    ['in a catch clause', `try { null.x; } catch (error) { text = error.message; }`],
    ['as a reason', `await (async () => null.x)().catch((error) => { text = error.message; });`],
    ['of settled promises', `text = (await Promise.allSettled([(async () => null.x)()]))[0].reason.message;`],
  ])('that reads the text of an error of the engine %s has the words of QuickJS', async (_, read) => {
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const before = box.sandbox.handOvers?.unfit ?? 0;
    const { outcome, journal } = await box.run(`let text; ${SHORTER} ${read} ${result('text')}`, { engine: 'auto' });
    expect([outcome, engineOf(journal)]).toEqual([outcomeOf("cannot read property 'x' of null"), 'quickjs']);
    expect(box.sandbox.handOvers?.unfit).toBe(before + 1);
  });

  test('that reads such a text after a call from V8 goes back to QuickJS, and makes no call twice', async () => {
    const { made, functions } = counted();
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const source = `import { echo } from '@codemode/servers/test'; console.log('once', Date.now() > 0);
      ${SHORTER} const a = await echo([n, Math.random() < 1]); let text = '';
      try { a.b.c; } catch (error) { text = error.message; } ${result('[a, await echo(text)]')}`;
    const { outcome, journal, logs } = await box.run(source, { functions, engine: 'auto' });
    const a = [999_718, true];
    expect(outcome).toEqual(outcomeOf([a, "cannot read property 'c' of undefined"]));
    expect(made).toEqual([`1 ${JSON.stringify(a)}`, `2 "cannot read property 'c' of undefined"`]);
    expect(logs.map(({ message }) => message)).toEqual(['once true']);
    expect(journal.deliveries.flatMap((each) => (each.kind === 'engine' ? [each.engine] : []))).toEqual([
      'v8',
      'quickjs',
    ]);
  });

  test('that fails in V8 first fails in the words of QuickJS', async () => {
    const { outcome, journal } = await box.run(`${SHORTER} null.x;`, { engine: 'auto' });
    expect(outcome).toMatchObject({ failure: { name: 'TypeError', message: "cannot read property 'x' of null" } });
    expect(engineOf(journal)).toBe('quickjs');
  });

  test('that computes without end is stopped when its time is over, and leaves no process behind', async () => {
    const { outcome } = await box.run('for (;;) {}', { engine: 'auto', limits: { timeoutMs: 600 } });
    expect(outcome).toMatchObject({ failure: { kind: 'limit', limit: 'timeout' } });
    await expect.poll(() => box.sandbox.v8?.size, SOON).toBe(0);
  });
});

describe('a run in V8', () => {
  test('that uses what this V8 lacks is run by QuickJS', async () => {
    const source = `const all = await Array.fromAsync([1, Promise.resolve(2)]); ${result('all')}`;
    const { outcome, journal } = await box.run(source, { engine: 'v8' });
    expect(outcome).toEqual(outcomeOf([1, 2]));
    expect(['v8', 'quickjs']).toContain(engineOf(journal));
  });

  test('that takes more than its memory ends at that limit', async () => {
    const source = 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length));';
    const { outcome } = await box.run(source, { engine: 'v8', limits: { maxMemoryBytes: 16 * 1024 ** 2 } });
    expect(outcome).toMatchObject({ failure: { kind: 'limit', limit: 'memory', name: 'SandboxLimitError' } });
  });

  test('is stopped while it computes when its time is over', async () => {
    const { outcome } = await box.run('for (;;) {}', { engine: 'v8', limits: { timeoutMs: 300 } });
    expect(outcome).toMatchObject({ failure: { kind: 'limit', limit: 'timeout' } });
  });

  test('that waits when its time is over has what it assigned', async () => {
    const source = `import { never } from '@codemode/servers/test'; void never(); ${result('1')}`;
    const functions = { never: () => new Promise(() => {}) };
    const { outcome } = await box.run(source, { engine: 'v8', functions, limits: { timeoutMs: 300 } });
    expect(outcome).toMatchObject({ status: 'completed', resultJson: '1' });
  });

  test('fails like one in QuickJS: import, syntax, unhandled rejection, no result to wait for', async () => {
    const kindOf = async (source: string) => {
      const { outcome } = await box.run(source, { engine: 'v8', functions: { echo: (input) => input } });
      return outcome.status === 'failed' ? [outcome.failure.kind, outcome.failure.position?.line] : outcome;
    };
    expect(await kindOf(`\nimport { nothing } from '@codemode/servers/test';`)).toEqual(['import', 2]);
    expect(await kindOf(`import fs from 'node:fs';`)).toEqual(['import', 1]);
    expect(await kindOf('\nlet = ;')).toEqual(['syntax', 2]);
    expect(await kindOf(`\n\nPromise.reject(new Error('forgotten'));`)).toEqual(['exception', 3]);
    expect(await kindOf('await new Promise(() => {});')).toEqual(['never_settled', undefined]);
  });

  const STEPS = `import { step } from '@codemode/servers/test';
    const drawn = [Math.random(), Date.now()];
    const a = await step('a'); ${loop(1e4)}
    const b = await step([a, drawn[0] === drawn[0]]); const c = await step('c');
    ${result('[a, b, c, n]')}`;

  /** Kills the process while the call with this number is open. */
  test.each([1, 2, 3])('whose process is killed during call %i is rebuilt, and no call is made twice', async (at) => {
    const made: number[] = [];
    const functions = {
      step: async (input: unknown, call: GuestCall) => {
        made.push(call.number);
        if (call.number !== at) return input;
        await expect.poll(() => box.sandbox.v8?.workers.some(({ backlog }) => backlog === 0), SOON).toBe(true);
        for (const worker of box.sandbox.v8?.workers ?? []) worker.process.kill('the test');
        return input;
      },
    };
    const { outcome, journal } = await box.run(STEPS, { engine: 'v8', functions });
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(made).toEqual([1, 2, 3]);
    expect(engineOf(journal)).toBe('v8');
  });

  test('is suspended as its journal and resumed by another sandbox with its randomness and times', async () => {
    await using other = await openSandbox({ max: 1 });
    const source = `import { ask } from '@codemode/servers/test';
      const before = [Math.random(), Date.now()]; console.log('once');
      const seen = [await ask('first')]; ${LONG}
      seen.push(await ask([before, n])); ${result('[seen, n, before]')}`;
    const asked = deferred<GuestCall>();
    const program = box.program(source, { functions: { ask: () => null }, engine: 'auto' });
    const { run } = await box.sandbox.start(
      { caller: CALLER, program },
      {
        onCall: async (call) => {
          if (call.number === 1) return { ok: true, json: '"answer"' };
          asked.resolve(call);
          return new Promise(() => {});
        },
      },
    );
    const call = await asked.promise;
    await expect.poll(() => run.isWaiting, SOON).toBe(true);
    expect(run.engine).toBe('v8');
    const suspended = await box.sandbox.suspend(run);
    expect(suspended.openCalls.map(({ number }) => number)).toEqual([2]);
    await expect.poll(() => box.sandbox.v8?.size, SOON).toBe(0);

    const again: GuestCall[] = [];
    const resumed = await other.sandbox.resume(suspended, CALLER, {
      onCall: async (each) => {
        again.push(each);
        return { ok: true, json: 'null' };
      },
    });
    resumed.run.answer(call.number, { ok: true, json: '"late"' });
    const { outcome, logs } = await resumed.report;
    const before = (JSON.parse(call.argumentsJson.toString()) as [[unknown, number]])[0][0];
    expect(outcome).toEqual(outcomeOf([['answer', 'late'], N, before]));
    expect(logs.map(({ message }) => message)).toEqual(['once']);
    expect(again).toEqual([]);
    expect(resumed.run.engine).toBe('v8');
  });

  test('is replayed from its recording in V8', async () => {
    const { functions } = counted();
    const source = `import { echo } from '@codemode/servers/test';
      let name = ''; try { null.x; } catch (error) { name = error.name; } ${result('[await echo(name), Date.now()]')}`;
    const first = await box.run(source, { functions, engine: 'v8' });
    const again = await box.sandbox.replay(decodeJournal(encodeJournal(first.journal)), CALLER);
    expect(again.divergence).toBeUndefined();
    expect(again.report.outcome).toEqual(first.outcome);
    expect(engineOf(again.report.journal)).toBe('v8');
  });

  test('that waits leaves its process to one that computes, and comes back for its answer', async () => {
    const go = deferred<void>();
    const waiting: GuestCall[] = [];
    const source = (name: string) =>
      `import { wait } from '@codemode/servers/test'; const a = await wait('${name}'); ${result('[a, await wait(a)]')}`;
    const functions = {
      wait: async (input: unknown, call: GuestCall) => {
        waiting.push(call);
        if (call.number === 1) await go.promise;
        return input;
      },
    };
    const names = ['a', 'b', 'c', 'd', 'e'];
    const runs = names.map((name) => box.run(source(name), { engine: 'v8', functions }));
    await expect.poll(() => waiting.length, SOON).toBe(names.length);
    go.resolve();
    for (const [index, run] of runs.entries())
      expect((await run).outcome).toEqual(outcomeOf([names[index], names[index]]));
    expect(waiting).toHaveLength(2 * names.length);
  });
});
