import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deferred } from '../../src/lib/async/deferred.js';
import type { RunReport } from '../../src/sandbox/run-report.js';
import { CALLER, CallFailure, openSandbox, result, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 3 });
});
afterAll(() => box[Symbol.asyncDispose]());

const SOON = { timeout: 20_000 };
const IMPORT = "import * as test from '@codemode/servers/test';";
const endOf = ({ outcome }: RunReport): unknown =>
  outcome.status === 'completed' ? JSON.parse(outcome.resultJson) : outcome.failure;

describe('a call that blocks', () => {
  test('gives its result as a value, without await, one after the other', async () => {
    const functions = { double: (input: unknown) => (input as number) * 2, nothing: () => undefined };
    const source = `${IMPORT} const values = [1, 2, 3].map((n) => test.double(n)); ${result('[values, test.nothing()]')}`;
    expect(await box.value(source, { functions, isBlocking: true })).toEqual([[2, 4, 6], null]);
  });

  test('throws what the host answers as an error, and the program can go on', async () => {
    const functions = {
      refuse: () => {
        throw new CallFailure('not today', 'AuthenticationError');
      },
      echo: (input: unknown) => input,
    };
    const source = `${IMPORT}
      import { AuthenticationError } from '@codemode/errors';
      let caught; try { test.refuse({}); } catch (error) { caught = error; }
      ${result('[caught instanceof AuthenticationError, caught.name, caught.message, caught.hint, test.echo("on")]')}`;
    expect(await box.value(source, { functions, isBlocking: true })).toEqual([
      true,
      'AuthenticationError',
      'not today',
      'Try something else.',
      'on',
    ]);
  });

  test('moves the clock of the program to the time of the answer', async () => {
    const functions = { wait: () => new Promise((resolve) => setTimeout(resolve, 20)) };
    const source = `${IMPORT} const from = Date.now(); test.wait(); ${result('Date.now() - from >= 19')}`;
    expect(await box.value(source, { functions, isBlocking: true })).toBe(true);
  });

  test('ends with the time of its program, and is told to stop [A7, A35]', async () => {
    const told = deferred<void>();
    const functions = {
      never: (_input: unknown, _call: unknown, signal: AbortSignal) => {
        signal.addEventListener('abort', () => told.resolve());
        return new Promise(() => {});
      },
    };
    const { outcome } = await box.run(`${IMPORT} try { test.never(); } catch {} ${result('"survived"')}`, {
      functions,
      isBlocking: true,
      limits: { timeoutMs: 300 },
    });
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'limit', limit: 'timeout' } });
    await told.promise;
    expect(await box.value(result('"next"'), { isBlocking: true })).toBe('next');
  });

  test('ends when its program is cancelled, and the next one runs', async () => {
    const arrived = deferred<void>();
    const functions = {
      never: () => {
        arrived.resolve();
        return new Promise(() => {});
      },
    };
    const options = { functions, isBlocking: true };
    const { run, report } = await box.sandbox.start(
      { caller: CALLER, program: box.program(`${IMPORT} test.never();`, options) },
      box.handlers(options),
    );
    await arrived.promise;
    run?.cancel();
    expect(endOf(await report)).toMatchObject({ kind: 'cancelled' });
    expect(await box.value(result('"next"'), { isBlocking: true })).toBe('next');
  });
});

describe('a program with blocking calls', () => {
  test('has a process of its own, and the others continue meanwhile', async () => {
    await using crowded = await openSandbox({ min: 1, max: 4 });
    const go = deferred<void>();
    const arrived: string[] = [];
    const hold = async (name: unknown) => {
      arrived.push(name as string);
      await go.promise;
      return name;
    };
    const functions = { hold };
    const blocked = (name: string) => `${IMPORT} ${result(`test.hold('${name}')`)}`;
    const waiting = `${IMPORT} ${result(`await test.hold('waiting')`)}`;
    // At once, so that they all ask for a place before any of them has come to one.
    const runs = [
      crowded.run(waiting, { functions }),
      crowded.run(blocked('one'), { functions, isBlocking: true }),
      crowded.run(blocked('two'), { functions, isBlocking: true }),
    ];
    await expect.poll(() => [...arrived].sort(), SOON).toEqual(['one', 'two', 'waiting']);
    expect(crowded.sandbox.pool.workers.filter(({ isExclusive }) => isExclusive).map((w) => w.runCount)).toEqual([
      1, 1,
    ]);
    expect(await crowded.value(result('"meanwhile"'))).toBe('meanwhile');
    go.resolve();
    expect((await Promise.all(runs)).map(endOf)).toEqual(['waiting', 'one', 'two']);
  });

  test('queues where the maximum of blocking programs runs, and its time limit is paused', async () => {
    await using narrow = await openSandbox({ min: 1, max: 4, maxBlocking: 1 });
    const go = deferred<void>();
    let underWay = 0;
    const seen: number[] = [];
    const functions = {
      hold: async () => {
        seen.push(++underWay);
        await go.promise;
        underWay--;
      },
    };
    const source = `${IMPORT} ${result('test.hold()')}`;
    const options = { functions, isBlocking: true };
    const first = narrow.run(source, options);
    await expect.poll(() => seen, SOON).toEqual([1]);
    const second = narrow.run(source, { ...options, limits: { timeoutMs: 300 } });
    expect(narrow.sandbox.pool.queueLength).toBe(1);
    // Longer than the second may take.
    const pause = `await new Promise((resolve) => setTimeout(resolve, 400)); ${result('"meanwhile"')}`;
    expect(await narrow.value(pause)).toBe('meanwhile');
    go.resolve();
    expect([endOf(await first), endOf(await second), seen]).toEqual([null, null, [1, 1]]);
  });

  test('shares its process again with nobody but later programs of its caller', async () => {
    await using small = await openSandbox({ min: 1, max: 1 });
    const functions = { echo: (input: unknown) => input };
    const source = `${IMPORT} ${result('test.echo(1)')}`;
    expect(await small.value(source, { functions, isBlocking: true })).toBe(1);
    const [worker] = small.sandbox.pool.workers;
    expect(worker?.isExclusive).toBe(false);
    expect(await small.value(result('2'))).toBe(2);
    expect(small.sandbox.pool.workers).toEqual([worker]);
  });

  test('cannot be suspended, and says so', async () => {
    const go = deferred<void>();
    const arrived = deferred<void>();
    const functions = {
      hold: () => {
        arrived.resolve();
        return go.promise;
      },
    };
    const options = { functions, isBlocking: true };
    const { run, report } = await box.sandbox.start(
      { caller: CALLER, program: box.program(`${IMPORT} test.hold(); ${result('1')}`, options) },
      box.handlers(options),
    );
    await arrived.promise;
    expect(() => run?.suspend()).toThrow('a program with blocking calls cannot be suspended');
    go.resolve();
    expect(endOf(await report)).toBe(1);
  });
});
