import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/domain/limits.js';
import { deferred } from '../../src/lib/async/deferred.js';
import type { RunReport } from '../../src/sandbox/run-report.js';
import { openSession } from '../support/host.js';
import { CALLER, openSandbox, type ProgramOptions, result, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const SOON = { timeout: 20_000 };
const CANCELLED = { status: 'failed', failure: { kind: 'cancelled', name: 'Error', message: 'the run was cancelled' } };

/** Starts a program, and gives the means to cancel it in both ways. */
async function start(source: string, options: ProgramOptions = {}) {
  const abort = new AbortController();
  const started = await box.sandbox.start(
    { caller: CALLER, program: box.program(source, options), signal: abort.signal },
    box.handlers(options),
  );
  return { ...started, abort: () => abort.abort() };
}

const isComputing = () => box.sandbox.pool.workers.some((worker) => worker.computing !== undefined);
const outcomeOf = async (report: Promise<RunReport>) => (await report).outcome;

describe.each(['by its signal', 'by hand'])('a program that is cancelled %s', (way) => {
  const cancel = (started: Awaited<ReturnType<typeof start>>) =>
    way === 'by hand' ? started.run?.cancel() : started.abort();

  test('while it waits for a call ends at once, with its logs, and the call is told', async () => {
    const told = deferred<void>();
    const arrived = deferred<void>();
    const functions = {
      never: (_input: unknown, _call: unknown, signal: AbortSignal) => {
        signal.addEventListener('abort', () => told.resolve());
        arrived.resolve();
        return new Promise(() => {});
      },
    };
    const started = await start(
      `import { never } from '@codemode/servers/test'; console.log('before'); await never(); ${result('1')}`,
      { functions },
    );
    await arrived.promise;
    cancel(started);
    const { outcome, logs } = await started.report;
    expect(outcome).toEqual(CANCELLED);
    expect(logs.map(({ message }) => message)).toEqual(['before']);
    await told.promise;
  });

  test('while it waits for a timer ends at once', async () => {
    const started = await start('await new Promise((resolve) => setTimeout(resolve, 1e9))');
    await expect.poll(() => started.run?.isWaiting, SOON).toBe(true);
    cancel(started);
    expect(await outcomeOf(started.report)).toEqual(CANCELLED);
    expect(await box.value(result('1'))).toBe(1);
  });

  test('while it computes ends, and its neighbours come to their right end [A35]', async () => {
    const go = deferred<void>();
    const neighbour = box.run(`import { wait } from '@codemode/servers/test'; ${result('await wait()')}`, {
      functions: { wait: () => go.promise.then(() => 'through') },
    });
    await expect.poll(() => box.sandbox.pool.workers.some(({ runCount }) => runCount > 0), SOON).toBe(true);
    const started = await start('for (;;) {}');
    await expect.poll(isComputing, SOON).toBe(true);
    cancel(started);
    expect(await outcomeOf(started.report)).toEqual(CANCELLED);
    go.resolve();
    expect(await outcomeOf(neighbour)).toEqual({ status: 'completed', resultJson: '"through"' });
    await expect.poll(isComputing, SOON).toBe(false);
  });

  test('after its end has ended as it did', async () => {
    const started = await start(result('"done"'));
    await started.report;
    cancel(started);
    expect(await outcomeOf(started.report)).toEqual({ status: 'completed', resultJson: '"done"' });
  });
});

describe('a program that is cancelled before it runs', () => {
  test('never does', async () => {
    const functions = { note: () => null };
    const before = box.calls.length;
    const source = `import { note } from '@codemode/servers/test'; await note(); ${result('1')}`;
    const program = box.program(source, { functions });
    const aborted = await box.sandbox.start(
      { caller: CALLER, program, signal: AbortSignal.abort() },
      box.handlers({ functions }),
    );
    expect(await outcomeOf(aborted.report)).toEqual(CANCELLED);
    // While its source is being compiled.
    const abort = new AbortController();
    const compiling = box.sandbox.start({ caller: CALLER, program, signal: abort.signal }, box.handlers({ functions }));
    abort.abort();
    expect(await outcomeOf((await compiling).report)).toEqual(CANCELLED);
    expect(box.calls).toHaveLength(before);
  });

  test('is refused by a host as such, and is an ordinary answer once it was accepted', async () => {
    const session = openSession(box.sandbox);
    const request = { source: 'for (;;) {}', language: 'typescript', limits: DEFAULT_LIMITS } as const;
    await expect(session.run({ ...request, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
    const abort = new AbortController();
    const running = session.run({ ...request, signal: abort.signal });
    await expect.poll(() => box.sandbox.pool.workers.some(({ computing }) => computing !== undefined), SOON).toBe(true);
    abort.abort();
    expect(await running).toMatchObject({ state: 'cancelled', summary: { outcome: CANCELLED } });
  });
});
