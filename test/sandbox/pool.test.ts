import { describe, expect, test } from 'vitest';
import type { CallerId, GuestCall } from '../../src/domain/run.js';
import { deferred } from '../../src/lib/async/deferred.js';
import type { RunReport } from '../../src/sandbox/run-report.js';
import { descendantsOf, expectGone } from '../support/processes.js';
import { openSandbox, type ProgramOptions, result, type TestSandbox } from '../support/sandbox.js';

const SOON = { timeout: 20_000 };

/** Says its name to the host, then waits there until the host lets it go. */
const HELD = (name: string) => `
  import { hold } from '@codemode/servers/test';
  ${result(`await hold(${JSON.stringify(name)})`)}`;

/** A host function that holds every program that calls it, and knows which are there. */
function openGate() {
  const go = deferred<void>();
  const arrived: string[] = [];
  const hold = async (name: unknown, _call: GuestCall) => {
    arrived.push(name as string);
    await go.promise;
    return name;
  };
  return { arrived, functions: { hold }, open: () => go.resolve() };
}

const endOf = ({ outcome }: RunReport): unknown =>
  outcome.status === 'completed' ? JSON.parse(outcome.resultJson) : outcome.failure;

const pidsOf = ({ sandbox }: TestSandbox): number[] => sandbox.pool.workers.map(({ process }) => process.pid as number);
const pidOf = ({ sandbox }: TestSandbox, caller: string): number | undefined =>
  sandbox.pool.workers.find((worker) => worker.caller === caller)?.process.pid;

/** Starts a program that can be cancelled. */
function start(box: TestSandbox, source: string, signal: AbortSignal, options: ProgramOptions = {}) {
  const caller = (options.caller ?? 'tester') as CallerId;
  return box.sandbox
    .start({ caller, program: box.program(source, options), signal }, box.handlers(options))
    .then(({ report }) => report);
}

describe('callers', () => {
  test('never share a process, and one caller does', async () => {
    // Room for one each: a caller whose worker is busy may be given a second one.
    await using box = await openSandbox({ max: 6 });
    const gate = openGate();
    const runs = ['ada', 'grace', 'ada', 'linus', 'grace', 'ada'].map((caller) =>
      box.run(HELD(caller), { caller, functions: gate.functions }),
    );
    await expect.poll(() => gate.arrived.length, SOON).toBe(6);
    for (const worker of box.sandbox.pool.workers) expect(['ada', 'grace', 'linus']).toContain(worker.caller);
    expect(new Set(pidsOf(box)).size).toBe(box.sandbox.pool.workers.length);
    const tenants = box.sandbox.pool.workers.reduce(
      (sum, { caller, runCount }) => sum.set(caller, (sum.get(caller) ?? 0) + runCount),
      new Map<string, number>(),
    );
    expect(Object.fromEntries(tenants)).toEqual({ ada: 3, grace: 2, linus: 1 });
    gate.open();
    expect((await Promise.all(runs)).map(endOf)).toEqual(['ada', 'grace', 'ada', 'linus', 'grace', 'ada']);
  });

  test('never get a process that another has used, not even one after the other in a full pool', async () => {
    await using box = await openSandbox({ min: 1, max: 1 });
    const seen = new Map<string, number>();
    for (const caller of ['ada', 'grace', 'linus']) {
      expect(await box.value(result('1'), { caller })).toBe(1);
      seen.set(caller, pidOf(box, caller) as number);
    }
    expect(new Set(seen.values()).size).toBe(3);
    await expectGone([seen.get('ada') as number, seen.get('grace') as number]);
  });

  test('that are new get a process that was there before they came', async () => {
    await using box = await openSandbox({ max: 4 });
    await box.sandbox.pool.warm();
    const before = descendantsOf(process.pid);
    expect(await box.value(result('1'), { caller: 'new' })).toBe(1);
    expect(before).toContain(pidOf(box, 'new'));
  });
});

describe('where there are more callers than workers', () => {
  const ONE = { min: 1, max: 1 };

  test('one with only waiting programs yields its worker; they continue with no call made twice [C11]', async () => {
    await using box = await openSandbox(ONE);
    const gate = openGate();
    const source = `import { hold } from '@codemode/servers/test';
      const kept = [await hold('one')];
      const fired = new Promise((resolve) => setTimeout(() => resolve('timer'), 1_000));
      kept.push(...(await Promise.all([hold('two'), fired])));
      ${result('kept')}`;
    const go = deferred<void>();
    const hold = async (name: unknown) => {
      gate.arrived.push(name as string);
      if (name === 'two') await go.promise;
      return name;
    };
    const waiting = box.run(source, { caller: 'ada', functions: { hold } });
    await expect.poll(() => gate.arrived, SOON).toEqual(['one', 'two']);
    expect(await box.value(result('"served"'), { caller: 'grace' })).toBe('served');
    expect(pidOf(box, 'ada')).toBeUndefined();
    go.resolve();
    expect(endOf(await waiting)).toEqual(['one', 'two', 'timer']);
    expect(gate.arrived).toEqual(['one', 'two']);
  });

  test('one that never stops asking keeps nobody else from being served [C11]', async () => {
    await using box = await openSandbox(ONE);
    let isOver = false;
    const source = `import { pause } from '@codemode/servers/test'; await pause(); ${result('1')}`;
    const functions = { pause: () => new Promise((resolve) => setTimeout(resolve, 50, null)) };
    // Each begins in the middle of another one's pause, so that there is no moment without one.
    const endless = async (_: unknown, lane: number) => {
      await new Promise((resolve) => setTimeout(resolve, lane * 15));
      while (!isOver) expect(await box.value(source, { caller: 'ada', functions })).toBe(1);
    };
    const asking = Array.from({ length: 8 }, endless);
    await expect.poll(() => box.calls.length, SOON).toBeGreaterThan(16);
    const others = await Promise.all(
      ['grace', 'linus', 'grace', 'linus'].map((caller) => box.value(result(`"${caller}"`), { caller })),
    );
    isOver = true;
    expect(others).toEqual(['grace', 'linus', 'grace', 'linus']);
    await Promise.all(asking);
  });

  test('one that computes without end keeps nobody else from being served', async () => {
    await using box = await openSandbox(ONE);
    const stop = new AbortController();
    const begunAt = performance.now();
    const forever = () => start(box, 'for (;;) {}', stop.signal, { caller: 'ada' });
    const endless = [forever()];
    for (const caller of ['grace', 'linus', 'grace']) {
      expect(await box.value(result('"served"'), { caller })).toBe('served');
      // This one comes when the worker of the other caller is idle.
      await new Promise((resolve) => setTimeout(resolve, 100));
      endless.push(forever());
    }
    // Her programs have 30 s each.
    expect(performance.now() - begunAt).toBeLessThan(20_000);
    // Only for who has none: ada's programs have no more processes than there may be.
    expect(box.sandbox.pool.workers.filter((worker) => worker.caller === 'ada')).toHaveLength(1);
    expect(box.sandbox.pool.size).toBeLessThanOrEqual(2);
    stop.abort();
    await Promise.allSettled(endless);
  });

  test('a program whose worker was reclaimed can be cancelled, time out, and be suspended [C11]', async () => {
    await using box = await openSandbox(ONE);
    const gate = openGate();
    const [cancel, functions] = [new AbortController(), gate.functions];
    const cancelled = start(box, HELD('cancelled'), cancel.signal, { caller: 'ada', functions });
    const late = box.run(HELD('late'), { caller: 'ada', functions, limits: { timeoutMs: 3_000 } });
    const program = box.program(HELD('suspended'), { functions });
    const handlers = box.handlers({ functions });
    const { run } = await box.sandbox.start({ caller: 'ada' as CallerId, program }, handlers);
    await expect.poll(() => gate.arrived.length, SOON).toBe(3);
    expect(await box.value(result('1'), { caller: 'grace' })).toBe(1);
    cancel.abort();
    expect(endOf(await cancelled)).toMatchObject({ kind: 'cancelled' });
    expect(endOf(await late)).toMatchObject({ limit: 'timeout' });
    const suspended = await box.sandbox.suspend(run);
    const { run: resumed, report } = await box.sandbox.resume(suspended, 'ada' as CallerId, handlers);
    resumed.answer(1, { ok: true, json: '"answered"' });
    expect(endOf(await report)).toBe('answered');
    expect(gate.arrived).toHaveLength(3);
  });
});

describe('the number of processes', () => {
  test('never passes the maximum, whatever is asked of it at once', async () => {
    await using box = await openSandbox({ min: 0, max: 2 });
    const sizes: number[] = [];
    const functions = { note: () => void sizes.push(box.sandbox.pool.size) };
    const callers = Array.from({ length: 8 }, (_, index) => `caller ${index % 4}`);
    const source = `import { note } from '@codemode/servers/test'; await note(); ${result('"done"')}`;
    const reports = await Promise.all(callers.map((caller) => box.run(source, { caller, functions })));
    expect(reports.map(endOf)).toEqual(callers.map(() => 'done'));
    expect(sizes).toHaveLength(8);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2);
  });

  test('falls to the minimum when nobody needs them, which is kept as spares', async () => {
    await using kept = await openSandbox({ min: 1, max: 3, idleMs: 100 });
    await using emptied = await openSandbox({ min: 0, max: 3, idleMs: 100 });
    const fill = async (box: TestSandbox) => {
      for (const caller of ['ada', 'grace', 'linus']) await box.value(result('1'), { caller });
      return pidsOf(box);
    };
    const [keptPids, emptiedPids] = [await fill(kept), await fill(emptied)];
    // The second has been idle for less time than the first, so the first has had its chance by then.
    await expect.poll(() => emptied.sandbox.pool.workers.length, SOON).toBe(0);
    await expect.poll(() => kept.sandbox.pool.workers.length, SOON).toBe(0);
    await expectGone([...keptPids, ...emptiedPids]);
    expect(kept.sandbox.pool.figures.now.spares).toBeGreaterThanOrEqual(1);
    expect(await emptied.value(result('1'))).toBe(1);
  });

  test('does not wear out: a process is replaced after its share of programs', async () => {
    await using box = await openSandbox({ min: 1, max: 1, maxRunsInLife: 3 });
    const pids: (number | undefined)[] = [];
    const functions = { note: () => void pids.push(pidOf(box, 'tester')) };
    for (let index = 0; index < 7; index++)
      await box.value(`import { note } from '@codemode/servers/test'; await note(); ${result('1')}`, { functions });
    const [first, , , second, , , third] = pids;
    expect(pids).toEqual([first, first, first, second, second, second, third]);
    expect(new Set(pids).size).toBe(3);
  });

  test('is made up again when one is lost', async () => {
    await using box = await openSandbox({ min: 1, max: 1 });
    expect(await box.value(result('1'))).toBe(1);
    const [lost] = pidsOf(box) as [number];
    process.kill(lost, 'SIGKILL');
    await expect.poll(() => box.sandbox.pool.workers.length, SOON).toBe(0);
    expect(await box.value(result('2'))).toBe(2);
    expect(pidsOf(box)).not.toContain(lost);
  });
});

describe('programs that find no place', () => {
  const FULL = { min: 1, max: 1, maxRunsPerWorker: 1 };

  test('wait, and run in the order in which they came', async () => {
    await using box = await openSandbox({ ...FULL, maxQueued: 10 });
    const gate = openGate();
    const names = ['first', 'second', 'third', 'fourth', 'fifth'];
    const runs = names.map((name) => box.run(HELD(name), { functions: gate.functions }));
    await expect.poll(() => box.sandbox.pool.queueLength, SOON).toBe(4);
    await expect.poll(() => gate.arrived, SOON).toEqual(['first']);
    gate.open();
    expect((await Promise.all(runs)).map(endOf)).toEqual(names);
    expect(gate.arrived).toEqual(names);
  });

  test('do not share a place that becomes free', async () => {
    await using box = await openSandbox({ ...FULL, maxQueued: 10 });
    const gate = openGate();
    let most = 0;
    const count = () => {
      most = Math.max(most, ...box.sandbox.pool.workers.map(({ runCount }) => runCount));
    };
    const functions = { ...gate.functions, count };
    const source = `import { count } from '@codemode/servers/test'; await count(); await 0; await count(); ${result('1')}`;
    const first = box.run(HELD('first'), { functions });
    const others = Array.from({ length: 5 }, () => box.run(source, { functions }));
    await expect.poll(() => box.sandbox.pool.queueLength, SOON).toBe(5);
    gate.open();
    expect((await Promise.all([first, ...others])).map(endOf)).toEqual(['first', 1, 1, 1, 1, 1]);
    expect(most).toBe(1);
  });

  test('are refused when too many wait already, with what to do; those that wait lose nothing', async () => {
    await using box = await openSandbox({ ...FULL, maxQueued: 2 });
    const gate = openGate();
    const runs = ['first', 'second', 'third'].map((name) => box.run(HELD(name), { functions: gate.functions }));
    await expect.poll(() => box.sandbox.pool.queueLength, SOON).toBe(2);
    await expect(box.run(HELD('fourth'))).rejects.toMatchObject({
      code: 'sandbox_busy',
      message: '2 programs are waiting for a worker already; try again in a few seconds, or raise sandbox.workers.max',
    });
    gate.open();
    expect((await Promise.all(runs)).map(endOf)).toEqual(['first', 'second', 'third']);
    expect(await box.value(result('"again"'))).toBe('again');
  });

  test('of one caller leave room for those of others to wait [C11]', async () => {
    await using box = await openSandbox({ ...FULL, maxQueued: 4 });
    const gate = openGate();
    const run = (name: string, caller: string) =>
      box.run(HELD(name), { caller, functions: gate.functions }).then(endOf, (error: { code: string }) => error.code);
    const runs = ['1', '2', '3', '4', '5'].map((name) => run(name, 'ada'));
    await expect.poll(() => box.sandbox.pool.queueLength, SOON).toBe(4);
    expect(await run('6', 'ada')).toBe('sandbox_busy');
    const others = ['7', '8', '9'].map((name) => run(name, 'grace'));
    // The caller with the most workers gives up its latest one, until all have equally many.
    expect(await others[2]).toBe('sandbox_busy');
    expect(box.sandbox.pool.figures).toMatchObject({ now: { queued: 4 }, sinceStart: { refused: 4 } });
    gate.open();
    expect(await Promise.all([...runs, ...others])).toEqual([
      '1',
      '2',
      '3',
      'sandbox_busy',
      'sandbox_busy',
      '7',
      '8',
      'sandbox_busy',
    ]);
  });

  test('can be cancelled while they wait, and leave their place to others', async () => {
    await using box = await openSandbox({ ...FULL, maxQueued: 2 });
    const gate = openGate();
    const first = box.run(HELD('first'), { functions: gate.functions });
    await expect.poll(() => gate.arrived, SOON).toEqual(['first']);
    const cancel = new AbortController();
    const second = start(box, HELD('second'), cancel.signal, { functions: gate.functions });
    const third = box.run(HELD('third'), { functions: gate.functions });
    await expect.poll(() => box.sandbox.pool.queueLength, SOON).toBe(2);
    cancel.abort();
    expect(endOf(await second)).toMatchObject({ kind: 'cancelled' });
    expect(box.sandbox.pool.queueLength).toBe(1);
    gate.open();
    expect((await Promise.all([first, third])).map(endOf)).toEqual(['first', 'third']);
    expect(gate.arrived).toEqual(['first', 'third']);
  });

  test('can be cancelled while their process is being started, and it is not lost to others', async () => {
    await using box = await openSandbox({ min: 0, max: 1 });
    const gate = openGate();
    const first = box.run(HELD('first'), { caller: 'ada', functions: gate.functions });
    await expect.poll(() => gate.arrived, SOON).toEqual(['first']);
    const cancel = new AbortController();
    const second = start(box, HELD('second'), cancel.signal, { caller: 'grace', functions: gate.functions });
    await expect.poll(() => box.sandbox.pool.queueLength, SOON).toBe(1);
    gate.open();
    await first;
    cancel.abort();
    expect(endOf(await second)).toMatchObject({ kind: 'cancelled' });
    expect(await box.value(result('"mine"'), { caller: 'linus' })).toBe('mine');
  });
});

describe('closing', () => {
  // Other test files of this process may still be waiting for theirs to leave.
  const elsewhere = new Set(descendantsOf(process.pid));
  const ours = () => descendantsOf(process.pid).filter((pid) => !elsewhere.has(pid));

  test('leaves no process behind: workers and spares', async () => {
    const box = await openSandbox({ min: 1, max: 3 });
    await box.sandbox.pool.warm();
    for (const caller of ['ada', 'grace']) await box.value(result('1'), { caller });
    const below = ours();
    // Two workers, a spare, and what their jails consist of.
    expect(below.length).toBeGreaterThanOrEqual(3);
    await box.sandbox.close();
    await expectGone(below);
    expect(ours()).toEqual([]);
  });

  test('while processes are being started leaves none of them behind', async () => {
    const box = await openSandbox({ min: 1, max: 4 });
    const hasStarted = (count: number) =>
      expect.poll(() => box.sandbox.pool.size, { ...SOON, interval: 1 }).toBeGreaterThanOrEqual(count);
    const early = ['ada', 'grace', 'linus', 'dennis'].map((caller) =>
      box.run('for (;;) {}', { caller }).then(endOf, (error: unknown) => error),
    );
    // The first takes the spare, so that the second is being started now.
    await hasStarted(2);
    await box.sandbox.close();
    expect(ours()).toEqual([]);
    for (const end of await Promise.all(early))
      expect(end).toMatchObject({ message: expect.stringContaining('the sandbox is shutting down') });
  });

  test('ends running programs and reports that to their callers', async () => {
    const box = await openSandbox({ min: 1, max: 2, maxRunsPerWorker: 1 });
    const gate = openGate();
    const held = ['first', 'second'].map((name) => box.run(HELD(name), { functions: gate.functions }));
    await expect.poll(() => gate.arrived.length, SOON).toBe(2);
    const queued = box.run(HELD('third')).catch((error: unknown) => error);
    await expect.poll(() => box.sandbox.pool.queueLength, SOON).toBe(1);
    await box.sandbox.close();
    for (const report of await Promise.all(held))
      expect(endOf(report)).toMatchObject({
        kind: 'worker_lost',
        message: expect.stringContaining('the sandbox is shutting down'),
      });
    expect(await queued).toMatchObject({ code: 'shutting_down' });
    await expect(box.run(result('1'))).rejects.toMatchObject({ code: 'shutting_down' });
  });
});
