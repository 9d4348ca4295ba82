import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GuestCall } from '../../src/domain/run.js';
import { deferred } from '../../src/lib/async/deferred.js';
import { decodeJournal, encodeJournal } from '../../src/sandbox/journal/journal.js';
import { CALLER, openSandbox, result, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const SOON = { timeout: 20_000 };

const WAITING = (index: number) => `
  import { first, second } from '@codemode/servers/test';
  const drawn = Math.random();
  console.log('started', ${index});
  const a = await first(${index});
  await new Promise((resolve) => setTimeout(resolve, 2));
  const b = await second(a);
  ${result(`[a, b, drawn === drawn, ${index}]`)}`;

describe('a worker that is lost', () => {
  test('stuck in a built-in among a hundred waiting programs ends alone, and no call repeats [A35]', async () => {
    await using crowded = await openSandbox({ min: 1, max: 1, maxRunsPerWorker: 256 });
    const made: string[] = [];
    const released = deferred<void>();
    const functions = {
      first: async (input: unknown, call: GuestCall) => {
        made.push(`${call.runId} ${call.number}`);
        await released.promise;
        return (input as number) * 2;
      },
      second: async (input: unknown, call: GuestCall) => {
        made.push(`${call.runId} ${call.number}`);
        return (input as number) + 1;
      },
    };
    const others = Array.from({ length: 99 }, (_, index) => crowded.run(WAITING(index), { functions }));
    await expect.poll(() => made.length, SOON).toBe(99);
    const worker = crowded.sandbox.pool.workers[0];
    expect(worker?.runCount).toBe(99);

    const guilty = crowded.run(`await 0; ("a".repeat(4e6) + "b").indexOf("a".repeat(2e6) + "c")`, {
      limits: { timeoutMs: 300 },
    });
    await expect.poll(() => worker?.runCount, SOON).toBe(100);
    released.resolve();
    expect((await guilty).outcome).toMatchObject({ status: 'failed', failure: { kind: 'limit', limit: 'timeout' } });
    expect(worker?.isLost).toBe(true);

    const reports = await Promise.all(others);
    reports.forEach(({ outcome, logs }, index) => {
      expect(outcome).toEqual({
        status: 'completed',
        resultJson: JSON.stringify([index * 2, index * 2 + 1, true, index]),
      });
      expect(logs.map(({ message }) => message)).toEqual([`started ${index}`]);
    });
    expect(made).toHaveLength(198);
    expect(new Set(made).size).toBe(198);
  });

  test('takes no waiting program along when it is killed from outside', async () => {
    const go = deferred<void>();
    const running = box.run(
      `import { wait } from '@codemode/servers/test'; const before = [Math.random(), Date.now()]; await wait(); ${result('[before[0] < 1, before[1] > 1e12]')}`,
      { functions: { wait: () => go.promise } },
    );
    await expect
      .poll(() => box.sandbox.pool.workers.some((worker) => worker.runCount === 1 && worker.backlog === 0), SOON)
      .toBe(true);
    for (const worker of box.sandbox.pool.workers) worker.kill('the test');
    go.resolve();
    expect((await running).outcome).toEqual({ status: 'completed', resultJson: '[true,true]' });
  });

  test('gives a rebuilt program the times that it read before, in the middle of its work too', async () => {
    const go = deferred<void>();
    const asked: unknown[] = [];
    const functions = {
      wait: (input: unknown) => {
        asked.push(input);
        return go.promise;
      },
    };
    const source = `import { wait } from '@codemode/servers/test';
      const times = [];
      while (times.length < 7) if (times.at(-1) !== Date.now()) times.push(Date.now());
      await wait(times); ${result('times')}`;
    const running = box.run(source, { functions });
    await expect.poll(() => asked.length, SOON).toBe(1);
    // The call leaves before the program has reached its `await`: until then, a lost worker is the program's fault.
    await expect
      .poll(() => box.sandbox.pool.workers.every(({ computing }) => computing === undefined), SOON)
      .toBe(true);
    for (const worker of box.sandbox.pool.workers) worker.kill('the test');
    go.resolve();
    const { outcome, journal } = await running;
    expect(outcome).toEqual({ status: 'completed', resultJson: JSON.stringify(asked[0]) });
    expect((asked[0] as number[]).length).toBeGreaterThan(5);
    expect(asked).toHaveLength(1);
    const { report, divergence } = await box.sandbox.replay(decodeJournal(encodeJournal(journal)), CALLER);
    expect({ outcome: report.outcome, divergence }).toEqual({ outcome, divergence: undefined });
  });

  test('that was computing blames the program it computed', async () => {
    const busy = box.run('while (true) {}');
    await expect.poll(() => box.sandbox.pool.workers.some((worker) => worker.computing !== undefined), SOON).toBe(true);
    for (const worker of box.sandbox.pool.workers) if (worker.computing !== undefined) worker.kill('the test');
    expect((await busy).outcome).toMatchObject({ status: 'failed', failure: { kind: 'worker_lost' } });
  });
});

test('a program that loses its workers again and again restarts twenty times, then fails [A35]', async () => {
  await using single = await openSandbox({ min: 1, max: 1 });
  const functions = { wait: () => new Promise(() => {}) };
  const program = single.program(`import { wait } from '@codemode/servers/test'; await wait();`, { functions });
  const { run, report } = await single.sandbox.start({ caller: CALLER, program }, single.handlers({ functions }));
  let kills = 0;
  const ended = report.then(() => true);
  const isOver = () => Promise.race([ended, new Promise<false>((resolve) => setTimeout(resolve, 1, false))]);
  while (!(await isOver())) {
    if (!run.isWaiting) continue;
    for (const worker of single.sandbox.pool.workers) worker.kill('the test');
    kills++;
    while (run.isWaiting) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect((await report).outcome).toMatchObject({
    failure: {
      kind: 'worker_lost',
      message: 'the program could not continue in another worker: it lost several workers',
    },
  });
  expect(kills).toBe(21);
  expect(single.calls).toHaveLength(1);
});

test('a program that computes for long does not hold up the others of its worker', async () => {
  await using pair = await openSandbox({ min: 1, max: 2 });
  const go = deferred<void>();
  const waiting = pair.run(`import { wait } from '@codemode/servers/test'; await wait(); ${result('"through"')}`, {
    functions: { wait: () => go.promise },
  });
  await expect.poll(() => pair.sandbox.pool.workers[0]?.runCount, SOON).toBe(1);
  await expect.poll(() => pair.sandbox.pool.workers[0]?.backlog, SOON).toBe(0);
  const hog = pair.run('while (true) {}', { limits: { timeoutMs: 5_000 } });
  await expect.poll(() => pair.sandbox.pool.workers[0]?.backlog, SOON).toBe(1);
  go.resolve();
  const winner = await Promise.race([waiting.then(() => 'waiting'), hog.then(() => 'hog')]);
  expect(winner).toBe('waiting');
  expect((await waiting).outcome).toEqual({ status: 'completed', resultJson: '"through"' });
  expect((await hog).outcome).toMatchObject({ failure: { limit: 'timeout' } });
});

describe('replay', () => {
  const SOURCE = `
    import { ask } from '@codemode/servers/test';
    const drawn = [Math.random(), Math.random()];
    const times = [Date.now()];
    const answers = await Promise.all([ask(1), ask(2), ask(3).catch((error) => error.message)]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    times.push(Date.now());
    console.log('answers', answers);
    ${result('{ drawn, times, answers, more: await ask(drawn[0]) }')}`;

  test('of a journal comes out the same, offline: numbers, times, logs and result [A14]', async () => {
    const functions = {
      ask: async (input: unknown) => {
        if (input === 3) throw new Error('three');
        await new Promise((resolve) => setTimeout(resolve, input === 1 ? 8 : 1));
        return { input, salt: Math.random() };
      },
    };
    const original = await box.run(SOURCE, { functions });
    expect(original.outcome.status).toBe('completed');
    const journal = decodeJournal(encodeJournal(original.journal));
    const before = box.calls.length;
    const { report, divergence } = await box.sandbox.replay(journal, CALLER);
    expect(divergence).toBeUndefined();
    expect(report.outcome).toEqual(original.outcome);
    expect(report.logs).toEqual(original.logs);
    expect(box.calls.length).toBe(before);
  });

  test('of a changed program says where it parted', async () => {
    const original = await box.run(SOURCE, { functions: { ask: (input) => input } });
    const changed = { ...original.journal, source: original.journal.source.replace('ask(2)', 'ask(20)') };
    const { divergence } = await box.sandbox.replay(changed, CALLER);
    expect(divergence).toContain('call 2 asked for test/ask');
  });
});

test('a program that timed out in the queue does not hold the worker on its turn [A35]', async () => {
  await using single = await openSandbox({ min: 1, max: 1 });
  // Computes for longer than the second may take at all, and ends by itself.
  const first = single.run(`const until = 4e7; let n = 0; while (n < until) n++; ${result('n > 1')}`, {
    limits: { timeoutMs: 30_000 },
  });
  await expect.poll(() => single.sandbox.pool.workers[0]?.computing, SOON).toBeDefined();
  const second = single.run(`("a".repeat(4e6) + "b").indexOf("a".repeat(2e6) + "c")`, { limits: { timeoutMs: 100 } });
  expect((await second).outcome).toMatchObject({ failure: { limit: 'timeout' } });
  expect((await first).outcome).toEqual({ status: 'completed', resultJson: 'true' });
  expect((await single.run(result('"free"'))).outcome).toEqual({ status: 'completed', resultJson: '"free"' });
});
