import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallReply, GuestCall } from '../../src/domain/run.js';
import { deferred } from '../../src/lib/async/deferred.js';
import { engineOf } from '../../src/sandbox/journal/journal.js';
import { CALLER, openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/** A run that moves to V8 before, between or behind its calls, and what may happen to it at each of them. */
let box: TestSandbox;
let other: TestSandbox;
beforeAll(async () => {
  [box, other] = await Promise.all([openSandbox({ max: 2 }), openSandbox({ max: 1 })]);
  // The first hand-over starts the first spare.
  await box.run(`let n = 0; ${LONG} ${result('n')}`, { engine: 'auto' });
});
afterAll(() => Promise.all([box[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]));

const SOON = { timeout: 30_000 };
/** QuickJS computes it for a second, so a process that is ready is always the first. */
const LONG = 'for (let i = 0; i < 1e7; i++) n = (n + i * i) % 1000003;';
const CALLS = 2;
const MOVES = ['before', 'between', 'behind'] as const;

/** It computes for long in one place: in front of call 1, in front of call 2, or behind both. */
function programOf(move: (typeof MOVES)[number]): string {
  const [before, between, behind] = MOVES.map((each) => (each === move ? LONG : ''));
  return `import { step } from '@codemode/servers/test'; let n = 0;
    const drawn = Math.random(); const begun = Date.now(); console.log('begun'); ${before}
    const a = await step('a'); ${between} const b = await step([a, drawn, begun]); ${behind}
    console.log('done'); ${result('[a, b, n > 0, drawn, begun]')}`;
}

interface Facts {
  readonly outcome: { readonly status: string; readonly resultJson?: string };
  readonly logs: readonly { readonly message: string }[];
}

/** What a call got as its arguments is what the program ends with: it did not draw again, nor read another time. */
function expectWhole({ outcome, logs }: Facts, made: readonly GuestCall[]): void {
  const [[a, drawn, begun]] = JSON.parse(made[1]?.argumentsJson.toString() ?? '') as [[string, number, number]];
  expect(outcome).toEqual({
    status: 'completed',
    resultJson: JSON.stringify(['a', [a, drawn, begun], true, drawn, begun]),
  });
  expect(logs.map(({ message }) => message)).toEqual(['begun', 'done']);
  expect(made.map(({ number }) => number)).toEqual([1, 2]);
}

const echo = ({ argumentsJson }: GuestCall): CallReply => ({
  ok: true,
  json: JSON.stringify((JSON.parse(argumentsJson.toString()) as unknown[])[0]),
});

const points = MOVES.flatMap((move) => Array.from({ length: CALLS }, (_, index) => [move, index + 1] as const));

describe('a run that moves to V8', () => {
  test.each(points)('%s its calls is rebuilt after all workers were killed in call %i', async (move, at) => {
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const made: GuestCall[] = [];
    const step = async (input: unknown, call: GuestCall) => {
      made.push(call);
      if (call.number !== at) return input;
      const workers = [...box.sandbox.pool.workers, ...(box.sandbox.v8?.workers ?? [])];
      await expect.poll(() => workers.every(({ backlog }) => backlog === 0), SOON).toBe(true);
      for (const { process } of workers) process.kill('the test');
      await expect.poll(() => workers.every(({ isLost }) => isLost), SOON).toBe(true);
      return input;
    };
    const report = await box.run(programOf(move), { functions: { step }, engine: 'auto' });
    expectWhole(report as Facts, made);
    expect(engineOf(report.journal)).toBe('v8');
  });

  test.each(points)('%s its calls is suspended in call %i, resumed elsewhere, and replayed', async (move, at) => {
    await expect.poll(() => box.sandbox.v8?.isReady, SOON).toBe(true);
    const made: GuestCall[] = [];
    const waits = deferred<GuestCall>();
    const onCall = async (call: GuestCall) => {
      made.push(call);
      if (call.number !== at) return echo(call);
      waits.resolve(call);
      return new Promise<never>(() => {});
    };
    const program = box.program(programOf(move), { functions: { step: () => null }, engine: 'auto' });
    const { run } = await box.sandbox.start({ caller: CALLER, program }, { onCall });
    const call = await waits.promise;
    await expect.poll(() => run.isWaiting, SOON).toBe(true);
    const isThere = MOVES.indexOf(move) < at;
    expect(run.engine).toBe(isThere ? 'v8' : 'quickjs');

    const suspended = await box.sandbox.suspend(run);
    const resumed = await other.sandbox.resume(suspended, CALLER, {
      onCall: async (each) => {
        made.push(each);
        return echo(each);
      },
    });
    resumed.run.answer(call.number, echo(call));
    const report = await resumed.report;
    expectWhole(report as Facts, made);
    expect((await other.sandbox.replay(report.journal, CALLER)).divergence).toBeUndefined();
  });
});
