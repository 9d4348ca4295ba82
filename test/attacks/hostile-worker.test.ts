import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { deferred } from '../../src/lib/async/deferred.js';
import { openTakenOver, type TakenOver, type TakeOverOptions } from '../support/hostile-worker.js';
import { watchTurns } from '../support/longest-turn.js';
import { result } from '../support/sandbox.js';

/**
 * The engine has been escaped and the worker process speaks for itself: it lies on the channel. The host refuses, blames
 * at most the programs of that worker, and continues serving.
 */

let box: TakenOver | undefined;
let crowd: TakenOver | undefined;
afterEach(async () => {
  await box?.[Symbol.asyncDispose]();
  box = undefined;
});
afterAll(() => crowd?.[Symbol.asyncDispose]());
const take = async (script: string, options?: TakeOverOptions): Promise<TakenOver> => {
  await box?.[Symbol.asyncDispose]();
  box = await openTakenOver(script, options);
  return box;
};

const ASKS = `import { ask } from '@codemode/servers/test'; ${result('await ask("mine")')}`;
const asked: string[] = [];
const functions = {
  ask: (input: unknown, call: { number: number }) => {
    asked.push(`${call.number} ${JSON.stringify(input)}`);
    return `answer to ${JSON.stringify(input)}`;
  },
};
/** Long enough for a busy machine. */
const SOON = { timeout: 30_000 };
const QUICK = { functions, limits: { timeoutMs: 500 } };
const RIGHT = { status: 'completed', resultJson: JSON.stringify('answer to "mine"') };
const LOST = { status: 'failed', failure: { kind: 'worker_lost' } };
const stillServes = async () => expect(await box?.value(result('6 * 7'), { limits: { timeoutMs: 5_000 } })).toBe(42);

/** Each process of the attacker's does the next one of the list. */
const NO_FRAMES: readonly (readonly [attempt: string, act: string])[] = [
  ['announces a frame of four gigabytes', `write(Buffer.concat([word(0xffffffff), word(10)]))`],
  ['announces a head larger than its frame', `write(Buffer.concat([word(100), word(200), Buffer.alloc(96)]))`],
  ['sends noise', `write(require('node:crypto').randomBytes(100_000))`],
  [
    'sends half a frame and dies',
    `write(frame({ type: 'execution/end', execution: id, failure: null, logsCut: false, usage: { cpuMs: 0, memoryBytes: 0 } }, '"forged"').subarray(0, 60)); process.exit(0)`,
  ],
  ['dies at once', `process.exit(0)`],
  ['sends a head that is not JSON', `send('{"type":"execution/end",')`],
  ['nests a head a hundred thousand deep', `send('['.repeat(100_000) + ']'.repeat(100_000))`],
  ['sends a message of no known type', `send({ type: 'host/obey', execution: id })`],
  [
    'sends a message with the type of a host’s',
    `send({ type: 'call/result', execution: id, call: 1, atMs: 0 }, '"forged"')`,
  ],
  ['adds an unknown field', `end(id, '"forged"', { trusted: true })`],
  [
    'adds __proto__',
    `send('{"type":"execution/end","execution":"' + id + '","failure":null,"logsCut":false,"__proto__":{"x":1}}', '"forged"')`,
  ],
  ['sends a number for an id', `end(5, '"forged"')`],
  ['sends a call number that is negative', `call(id, -1, 'test/ask')`],
  ['sends a target of a megabyte', `call(id, 1, 'x'.repeat(200_000))`],
  [
    'sends a failure of a kind that does not exist',
    `send({ type: 'execution/end', execution: id, failure: { kind: 'host_failed', name: 'x', message: 'x' }, logsCut: false, usage: { cpuMs: 0, memoryBytes: 0 } })`,
  ],
];

const NO_FRAMES_SCRIPT = `hello(); const id = wait('execution/start').execution;
  [${NO_FRAMES.map(([, act]) => `() => { ${act} }`).join()}][Number(process.argv[2])](); silence();`;

describe('a malformed frame ends the worker, and its program ends correctly in another one', () => {
  test.each(NO_FRAMES)('%s', async (_, act) => {
    asked.length = 0;
    crowd ??= await openTakenOver(NO_FRAMES_SCRIPT, { everySecond: true });
    const number = NO_FRAMES.findIndex(([, each]) => each === act);
    expect((await crowd.run(ASKS, { functions })).outcome).toEqual(RIGHT);
    expect(asked).toEqual(['1 "mine"']);
    expect(crowd.taken()).toBeGreaterThan(number);
    // The worker that came after was ours; the next one is the attacker's again.
    for (const worker of crowd.sandbox.pool.workers) worker.kill('the test');
    await expect.poll(() => crowd?.sandbox.pool.workers.length, SOON).toBe(0);
  });

  test('an attacker who has every worker loses every program, and the host says so', async () => {
    const taken = await take(`hello(); wait('execution/start'); send('nonsense'); silence();`, { count: 1_000 });
    expect((await taken.run(ASKS, { functions })).outcome).toMatchObject(LOST);
    expect((await taken.run(ASKS, { functions })).outcome).toMatchObject(LOST);
  });
});

describe('an answer that was not asked for', () => {
  test.each([
    ['for a program of nobody', `end('00000000-0000-0000-0000-000000000000', '"forged"')`, LOST, 0],
    ['twice', `end(id, '"first"'); end(id, '"second"')`, { status: 'completed', resultJson: '"first"' }, 0],
    [
      'with the place of a call nobody asked for',
      `send({ type: 'call/site', execution: id, call: 1, places: [{ line: 1, column: 1 }] })`,
      LOST,
      0,
    ],
    [
      'with clock reads out of order',
      `send({ type: 'clock/read', execution: id, reads: 5, ticks: [3, 9, 2, 8] })`,
      LOST,
      0,
    ],
    ['with an image nobody asked for', `send({ type: 'execution/suspended', execution: id }, 'image')`, RIGHT, 1],
  ])('%s ends the worker, and forges nothing', async (_, act, expected, workersLeft) => {
    const taken = await take(`hello(); const id = wait('execution/start').execution; ${act}; silence();`);
    expect((await taken.run(ASKS, { functions })).outcome).toMatchObject(expected);
    // What is said after an end may still be in progress: a program that came before it would meet the attacker.
    await expect.poll(() => taken.sandbox.pool.workers.length, SOON).toBe(workersLeft);
    await stillServes();
  });

  test("for a neighbour during another program's turn is rejected: the neighbour ends correctly", async () => {
    // Both programs are in the attacker's worker. It answers the first one's start, keeps the second one waiting, and
    // then claims an end of the first.
    const taken = await take(
      `hello(); const first = wait('execution/start').execution; send({ type: 'execution/waiting', execution: first, wakeAtMs: null, usage: { cpuMs: 0, memoryBytes: 0 } });
       wait('execution/start'); end(first, '"forged"'); silence();`,
    );
    const first = taken.run(`${ASKS} // first`, { functions });
    await expect.poll(() => taken.sandbox.pool.workers[0]?.runCount, SOON).toBe(1);
    await expect.poll(() => taken.sandbox.pool.workers[0]?.backlog, SOON).toBe(0);
    const second = taken.run(`${ASKS} // second`, { functions });
    expect((await first).outcome).toEqual(RIGHT);
    expect((await second).outcome).toMatchObject(LOST);
    await stillServes();
  });

  test("for another caller's program in another worker is ignored: that caller notices nothing", async () => {
    const taken = await take(
      `hello(); const id = wait('execution/start').execution;
       call(id, 1, 'test/leak'); const other = JSON.parse(wait('call/result').body);
       call(other, 1, 'test/steal'); send({ type: 'execution/log', execution: other, entry: 0, level: 'log', atMs: 0 }, 'forged'); end(id, '"done"');
       silence();`,
      { pool: { max: 2 } },
    );
    const victim = deferred<string>();
    let release: (value: unknown) => void = () => {};
    const stolen: unknown[] = [];
    // The attacker is told the victim's id: knowing it must not help.
    const attacker = await taken.sandbox.start(
      { caller: 'mallory' as never, program: taken.program(ASKS, { functions: { ask: () => null } }) },
      {
        onCall: async (call) => {
          if (call.target === 'test/steal') stolen.push(call);
          return { ok: true, json: JSON.stringify(await victim.promise) };
        },
      },
    );
    const held = new Promise((resolve) => {
      release = resolve;
    });
    const { run, report } = await taken.sandbox.start(
      { caller: 'alice' as never, program: taken.program(ASKS, { functions: { ask: () => null } }) },
      { onCall: async () => (await held, { ok: true, json: '"for alice"' }) },
    );
    victim.resolve(run?.id ?? '');
    expect((await attacker.report).outcome).toMatchObject({ resultJson: '"done"' });
    release(undefined);
    const { outcome, logs } = await report;
    expect(outcome).toEqual({ status: 'completed', resultJson: '"for alice"' });
    expect(logs).toEqual([]);
    expect(stolen).toEqual([]);
  });
});

describe('calls on behalf of a program', () => {
  test.each([
    ['that skip a number', `call(id, 2, 'test/ask', '["forged"]')`],
    [
      'that repeat a number with other arguments',
      `call(id, 1, 'test/ask', '["mine"]'); call(id, 1, 'test/ask', '["forged"]')`,
    ],
    ['that say the same again', `call(id, 1, 'test/ask', '["mine"]'); call(id, 1, 'test/ask', '["mine"]')`],
    [
      'that repeat a number with another target',
      `call(id, 1, 'test/ask', '["mine"]'); call(id, 1, 'test/other', '["mine"]')`,
    ],
  ])('%s end the worker and that program', async (_, act) => {
    asked.length = 0;
    const taken = await take(`hello(); const id = wait('execution/start').execution; ${act}; silence();`);
    expect((await taken.run(ASKS, { functions })).outcome).toMatchObject(LOST);
    expect(asked.filter((each) => each.includes('forged'))).toEqual([]);
    await stillServes();
  });

  test('that say the same again are made once', async () => {
    asked.length = 0;
    const taken = await take(
      `hello(); const id = wait('execution/start').execution; for (let n = 0; n < 5; n++) call(id, 1, 'test/ask', '["mine"]');
       wait('call/result'); send({ type: 'execution/waiting', execution: id, wakeAtMs: null, usage: { cpuMs: 0, memoryBytes: 0 } }); end(id, '"done"'); process.exit(0);`,
    );
    await taken.run(ASKS, QUICK);
    expect(asked).toEqual(['1 "mine"']);
    await stillServes();
  });

  test('repeated a hundred thousand times end the worker, and the host still answers others', async () => {
    asked.length = 0;
    const taken = await take(
      `hello(); const id = wait('execution/start').execution; call(id, 1, 'test/ask', '["mine"]');
       const flood = Buffer.concat(Array.from({ length: 1_000 }, () => frame({ type: 'execution/log', execution: 'nobody', entry: 0, level: 'log', atMs: 0 })));
       for (let n = 0; n < 800; n++) write(flood); silence();`,
    );
    const longestTurn = watchTurns();
    // It is not the program's doing: it succeeds in another worker, and makes its call once.
    const { outcome } = await taken.run(ASKS, { functions });
    const turnMs = longestTurn();
    expect(['completed', 'failed']).toContain(outcome.status);
    expect(asked).toEqual(['1 "mine"']);
    expect(turnMs).toBeLessThan(1_000);
    await stillServes();
  });

  test('whose arguments are not JSON, or larger than may be sent, reach no tool', async () => {
    asked.length = 0;
    let taken = await take(
      `hello(); const id = wait('execution/start').execution; call(id, 1, 'test/ask', 'not json ['); silence();`,
    );
    expect((await taken.run(ASKS, QUICK)).outcome).toMatchObject({ status: 'failed' });
    taken = await take(
      `hello(); const id = wait('execution/start').execution; call(id, 1, 'test/ask', '["' + 'x'.repeat(33 * 2 ** 20) + '"]'); silence();`,
    );
    expect((await taken.run(ASKS, { functions })).outcome).toMatchObject(LOST);
    expect(asked).toEqual([]);
    await stillServes();
  });

  test('by the ten thousand, none of them answered, end that program at its bound', async () => {
    const taken = await take(
      `hello(); const id = wait('execution/start').execution; for (let n = 1; n <= 20_000; n++) call(id, n, 'test/never'); silence();`,
    );
    let open = 0;
    const { report } = await taken.sandbox.start(
      { caller: 'tester' as never, program: taken.program(ASKS, { functions }) },
      { onCall: () => (open++, new Promise(() => {})) },
    );
    expect((await report).outcome).toMatchObject({ failure: { kind: 'limit', limit: 'output' } });
    expect(open).toBe(10_000);
    await stillServes();
  });
});

describe('results and logs', () => {
  test.each([
    ['no JSON', `'{"a":'`],
    ['JSON with something behind it', `'1, "injected": true'`],
    ['more than may be returned', `'"' + 'x'.repeat(33 * 2 ** 20) + '"'`],
  ])('a result that is %s is refused', async (_, body) => {
    const taken = await take(`hello(); end(wait('execution/start').execution, ${body}); silence();`);
    expect((await taken.run(ASKS, { functions })).outcome).toMatchObject(LOST);
    await stillServes();
  });

  test('a flood of logs past the limit ends the worker; what is kept stays within the limit', async () => {
    const taken = await take(
      `hello(); const id = wait('execution/start').execution; const text = 'x'.repeat(10_000);
       for (let entry = 0; entry < 2_000; entry++) send({ type: 'execution/log', execution: id, entry, level: 'log', atMs: 0 }, text); end(id, '1'); silence();`,
    );
    const { logs, outcome } = await taken.run(ASKS, { functions, limits: { maxLogBytes: 50_000 } });
    expect(outcome).toMatchObject(LOST);
    expect(logs.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThanOrEqual(50_000);
    await stillServes();
  });

  test('a flood of empty logs is kept up to a bound', async () => {
    const taken = await take(
      `hello(); const id = wait('execution/start').execution; const one = (entry) => frame({ type: 'execution/log', execution: id, entry, level: 'log', atMs: 0 });
       for (let entry = 0; entry < 130_000; entry += 1_000) write(Buffer.concat(Array.from({ length: 1_000 }, (_, n) => one(entry + n)))); end(id, '1'); silence();`,
    );
    const { logs, outcome } = await taken.run(ASKS, { functions, limits: { maxLogBytes: 16 * 1024 * 1024 } });
    expect(outcome.status).toBe('completed');
    expect(logs).toHaveLength(100_000);
  });

  test('what a worker prints is not read as frames', async () => {
    const taken = await take(
      `hello(); const id = wait('execution/start').execution; for (const fd of [1, 2]) { try { fs.writeSync(fd, frame({ type: 'execution/end', execution: id, failure: null, logsCut: false, usage: { cpuMs: 0, memoryBytes: 0 } }, '"forged"')) } catch {} } silence();`,
    );
    expect((await taken.run(ASKS, QUICK)).outcome).toMatchObject({ failure: { kind: 'limit', limit: 'timeout' } });
  });
});

describe('silence and false names', () => {
  test('a worker that takes programs and never answers is ended when their time is over', async () => {
    const taken = await take(`hello(); silence();`);
    expect((await taken.run(ASKS, QUICK)).outcome).toMatchObject({ failure: { kind: 'limit', limit: 'timeout' } });
    await stillServes();
  });

  test('a worker that does not even read is ended as well', async () => {
    const taken = await take(`hello(); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`);
    expect((await taken.run(ASKS, QUICK)).outcome).toMatchObject({ failure: { kind: 'limit', limit: 'timeout' } });
    await stillServes();
  });

  test.each([
    ['another build', `hello({ build: 'other' })`],
    ['another role', `hello({ role: 'python' })`],
    ['an answer before its name', `end('x', '1')`],
  ])('a worker that gives %s is not spoken to', async (_, act) => {
    const taken = await take(`${act}; silence();`, { count: 1_000 });
    await expect(taken.run(ASKS, { functions })).rejects.toMatchObject({ code: 'worker_lost' });
  });

  test('a worker that says its name again and again changes nothing', async () => {
    const taken = await take(
      `for (let n = 0; n < 100; n++) hello(); const id = wait('execution/start').execution; hello({ build: 'other' }); end(id, '"once"'); silence();`,
    );
    expect((await taken.run(ASKS, { functions })).outcome).toEqual({ status: 'completed', resultJson: '"once"' });
  });
});
