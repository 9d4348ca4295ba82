import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallerId, GuestCall, RunId } from '../../src/domain/run.js';
import type { SandboxRun } from '../../src/sandbox/sandbox-run.js';
import { CALLER, openSandbox, type ProgramOptions, result, type TestSandbox } from '../support/sandbox.js';

let first: TestSandbox;
let second: TestSandbox;
beforeAll(async () => {
  [first, second] = await Promise.all([openSandbox({ max: 1 }), openSandbox({ max: 1 })]);
});
afterAll(async () => {
  await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
});

/** Starts a program and waits until it has made so many calls and waits. */
async function startAndWait(box: TestSandbox, source: string, calls: number, options: ProgramOptions = {}) {
  const made: GuestCall[] = [];
  const { run } = await box.sandbox.start(
    { caller: CALLER, program: box.program(source, { functions: { ask: () => null }, ...options }) },
    {
      onCall: (call) => {
        made.push(call);
        return new Promise(() => {});
      },
    },
  );
  await until(() => made.length >= calls && run?.isWaiting === true);
  return { execution: run as SandboxRun, made };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

const never = { onCall: () => new Promise<never>(() => {}) };
const json = (value: unknown) => ({ ok: true, json: JSON.stringify(value) }) as const;

describe('a suspended program', () => {
  test('continues in another process, in the middle of a half-answered Promise.all', async () => {
    const source = `
      import { ask } from '@codemode/servers/test';
      const local = new Map([['kept', [1, 2, 3]]]);
      class Counter { #n = 1; add(k: number) { this.#n += k; return this.#n } }
      const counter = new Counter();
      const answers = await Promise.all([ask('a'), ask('b'), (async () => { const x = await ask('c'); counter.add(x); return ask('d') })()]);
      ${result("[answers, local.get('kept'), counter.add(0)]")}`;
    const { execution: run } = await startAndWait(first, source, 3);
    run.answer(1, json('A'));
    await until(() => run.isWaiting);
    const suspended = await first.sandbox.suspend(run);
    expect(suspended.openCalls.map(({ number, argumentsJson }) => [number, argumentsJson])).toEqual([
      [2, '["b"]'],
      [3, '["c"]'],
    ]);
    expect(suspended.sealed.length).toBeLessThan(20_000);
    for (const worker of first.sandbox.pool.workers) worker.kill('the test ends every worker in between');

    const later: GuestCall[] = [];
    const { run: resumed, report } = await second.sandbox.resume(suspended, CALLER, {
      onCall: async (call) => {
        later.push(call);
        return json('D');
      },
    });
    resumed?.answer(3, json(40));
    resumed?.answer(2, json('B'));
    expect((await report).outcome).toEqual({
      status: 'completed',
      resultJson: JSON.stringify([['A', 'B', 'D'], [1, 2, 3], 41]),
    });
    expect(later.map(({ number, argumentsJson }) => [number, argumentsJson])).toEqual([[4, '["d"]']]);
  });

  test('takes its timers, its clock and its logs along', async () => {
    const source = `
      console.log('before');
      const started = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 300));
      console.log('after');
      ${result('Date.now() - started')}`;
    const { execution: run } = await startAndWait(first, source, 0);
    const suspended = await first.sandbox.suspend(run);
    const { report } = await second.sandbox.resume(suspended, CALLER, never);
    const { outcome, logs } = await report;
    expect(outcome.status === 'completed' && Number(outcome.resultJson)).toBeGreaterThanOrEqual(300);
    expect(logs.map(({ message }) => message)).toEqual(['before', 'after']);
  });

  test('does not spend its time limit while it is suspended', async () => {
    const { execution: run } = await startAndWait(
      first,
      `import { ask } from '@codemode/servers/test'; ${result('await ask(1)')}`,
      1,
      { limits: { timeoutMs: 400 } },
    );
    const suspended = await first.sandbox.suspend(run);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { run: resumed, report } = await second.sandbox.resume(suspended, CALLER, never);
    resumed?.answer(1, json('in time'));
    expect((await report).outcome).toEqual({ status: 'completed', resultJson: '"in time"' });
  });

  test('keeps its time limit when it is resumed', async () => {
    const { execution: run } = await startAndWait(
      first,
      `import { ask } from '@codemode/servers/test'; await ask(1)`,
      1,
      {
        limits: { timeoutMs: 300 },
      },
    );
    const suspended = await first.sandbox.suspend(run);
    const { report } = await second.sandbox.resume(suspended, CALLER, never);
    expect((await report).outcome).toMatchObject({ failure: { limit: 'timeout' } });
  });

  test('whose memory had grown comes back whole', async () => {
    const source = `import { ask } from '@codemode/servers/test'; const big = Array.from({ length: 2e5 }, (_, i) => ({ i })); await ask(1); ${result('big.reduce((sum, { i }) => sum + i, 0)')}`;
    const { execution: run } = await startAndWait(first, source, 1);
    const suspended = await first.sandbox.suspend(run);
    const { run: resumed, report } = await second.sandbox.resume(suspended, CALLER, never);
    resumed?.answer(1, json(null));
    expect((await report).outcome).toEqual({ status: 'completed', resultJson: String((2e5 * (2e5 - 1)) / 2) });
  });

  test('can still import, fail at the agent’s own line, and be suspended again', async () => {
    const source = `import { ask } from '@codemode/servers/test';\ninterface A { a: 1 }\nawait ask(1);\nawait ask(2);\nconst { ToolCallError } = await import('@codemode/errors');\nthrow new ToolCallError('after all');`;
    const { execution: run } = await startAndWait(first, source, 1);
    const once = await first.sandbox.suspend(run);
    const made: GuestCall[] = [];
    const { run: again } = await second.sandbox.resume(once, CALLER, {
      onCall: (call) => (made.push(call), new Promise(() => {})),
    });
    again?.answer(1, json(null));
    await until(() => made.length === 1 && again?.isWaiting === true);
    const twice = await second.sandbox.suspend(again as SandboxRun);
    const { run: last, report } = await first.sandbox.resume(twice, CALLER, never);
    last?.answer(2, json(null));
    expect((await report).outcome).toMatchObject({
      failure: { errorClass: 'ToolCallError', message: 'after all', position: { line: 6 } },
    });
  });

  test('a reply that comes after suspension is dropped, and its call is answered after resuming', async () => {
    let reply: (value: { ok: true; json: string }) => void = () => {};
    const { run } = await first.sandbox.start(
      {
        caller: CALLER,
        program: first.program(`import { ask } from '@codemode/servers/test'; ${result('await ask(1)')}`, {
          functions: { ask: () => null },
        }),
      },
      {
        onCall: () =>
          new Promise((resolve) => {
            reply = resolve;
          }),
      },
    );
    await until(() => run?.isWaiting === true);
    const suspended = await first.sandbox.suspend(run as SandboxRun);
    reply({ ok: true, json: '"late"' });
    expect(suspended.openCalls).toHaveLength(1);
    const { run: resumed, report } = await first.sandbox.resume(suspended, CALLER, never);
    resumed?.answer(1, json('after resuming'));
    expect((await report).outcome).toMatchObject({ resultJson: '"after resuming"' });
  });
});

describe('a program that cannot be suspended', () => {
  test('because its image is too large continues, with the answers it got meanwhile', async () => {
    // Random, and repeated only at distances that compression does not look back to.
    const source = `import { ask } from '@codemode/servers/test';
      const kept = new Uint32Array(66 * 2 ** 20);
      for (let n = 0, x = 1; n < 2 ** 21; n++) { x ^= x << 13; x ^= x >>> 17; x ^= x << 5; kept[n] = x; }
      for (let filled = 2 ** 21; filled < kept.length; filled *= 2) kept.copyWithin(filled, 0, filled);
      ${result('[await ask(1), await ask(2), kept[7] === kept[2 ** 21 + 7]]')}`;
    const { execution: run } = await startAndWait(first, source, 1, {
      limits: { maxMemoryBytes: 512 * 1024 * 1024, timeoutMs: 60_000 },
    });
    const [worker] = first.sandbox.pool.workers;
    const refused = first.sandbox.suspend(run);
    run.answer(1, json('meanwhile'));
    await expect(refused).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('holds too much to be suspended'),
    });
    await until(() => run.openCalls.some(({ number }) => number === 2));
    run.answer(2, json('afterwards'));
    expect((await run.report).outcome).toEqual({
      status: 'completed',
      resultJson: '["meanwhile","afterwards",true]',
    });
    expect(worker?.isLost).toBe(false);
  });
});

describe('resuming', () => {
  const suspendOne = async () => {
    const source = `import { ask } from '@codemode/servers/test'; ${result('await ask(1)')}`;
    const { execution: run } = await startAndWait(first, source, 1);
    return first.sandbox.suspend(run);
  };

  test('can be cancelled before and after; the suspended program can be resumed again', async () => {
    const suspended = await suspendOne();
    const cancelled = await second.sandbox.resume(suspended, CALLER, never, undefined, AbortSignal.abort());
    expect((await cancelled.report).outcome).toMatchObject({ failure: { kind: 'cancelled' } });

    const cancel = new AbortController();
    const { run, report } = await second.sandbox.resume(suspended, CALLER, never, undefined, cancel.signal);
    await until(() => run.isWaiting);
    cancel.abort();
    expect((await report).outcome).toMatchObject({ failure: { kind: 'cancelled' } });

    const again = await second.sandbox.resume(suspended, CALLER, never);
    again.run.answer(1, json('in the end'));
    expect((await again.report).outcome).toEqual({ status: 'completed', resultJson: '"in the end"' });
  });
});

describe('a sealed program opens for nobody else', () => {
  let sealed: Awaited<ReturnType<TestSandbox['sandbox']['suspend']>>;
  beforeAll(async () => {
    const { execution: run } = await startAndWait(
      first,
      `import { ask } from '@codemode/servers/test'; await ask('secret canary')`,
      1,
    );
    sealed = await first.sandbox.suspend(run);
  });
  const rejected = { code: 'image_rejected' };

  test('a changed bit, anywhere', async () => {
    for (const at of [0, 1, 14, 30, Math.floor(sealed.sealed.length / 2), sealed.sealed.length - 1]) {
      const bytes = Buffer.from(sealed.sealed);
      bytes[at] = (bytes[at] as number) ^ 1;
      await expect(second.sandbox.resume({ ...sealed, sealed: bytes }, CALLER, never)).rejects.toMatchObject(rejected);
    }
  });
  test('another run’s id', () =>
    expect(second.sandbox.resume({ ...sealed, runId: 'other' as RunId }, CALLER, never)).rejects.toMatchObject(
      rejected,
    ));
  test('another code', () =>
    expect(second.sandbox.resume({ ...sealed, codeDigest: 'other' }, CALLER, never)).rejects.toMatchObject(rejected));
  test('another caller', () =>
    expect(second.sandbox.resume(sealed, 'mallory' as CallerId, never)).rejects.toMatchObject(rejected));
  test('cut short, or empty', async () => {
    await expect(
      second.sandbox.resume({ ...sealed, sealed: sealed.sealed.subarray(0, 20) }, CALLER, never),
    ).rejects.toMatchObject(rejected);
    await expect(second.sandbox.resume({ ...sealed, sealed: Buffer.alloc(0) }, CALLER, never)).rejects.toMatchObject(
      rejected,
    );
  });
  test('another key', async () => {
    await using stranger = await openSandbox({ max: 1 }, new Uint8Array(32).fill(8));
    await expect(stranger.sandbox.resume(sealed, CALLER, never)).rejects.toMatchObject(rejected);
  });
  test('its bytes show nothing of what it holds', () => {
    expect(sealed.sealed.includes('secret canary')).toBe(false);
    expect(sealed.sealed.includes('ask')).toBe(false);
  });
});
