import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { CallerId, CallReply, GuestCall } from '../../src/domain/run.js';
import { deferred } from '../../src/lib/async/deferred.js';
import type { RunReport } from '../../src/sandbox/run-report.js';
import type { SandboxRun } from '../../src/sandbox/sandbox-run.js';
import { decodeImage } from '../../src/worker/quickjs/image.js';
import { unpack } from '../../src/worker/quickjs/suspension.js';
import { openSandbox } from '../support/sandbox.js';

/**
 * A thousand programs at once, of four callers, each with a canary in its memory, its calls and its logs. Some are suspended
 * and resumed elsewhere, and one worker is killed in the middle, so that its programs are rebuilt. Then each looks for
 * what is not its own, in fresh memory and in everything it can reach, and the host looks through all that came back.
 */

const RUNS = 1_000;
/** The machine may be busy. */
const SLOW = { timeout: 180_000 };
const CALLERS = ['alice', 'bob', 'carol', 'mallory'];
const canaryOf = (index: number) => `canary-${String(index).padStart(4, '0')}-${CALLERS[index % CALLERS.length]}`;
/**
 * The number alone: an image cuts texts into pieces. With the dash behind it: in memory that was freed, a digit of
 * something else may stand behind the beginning of one's own.
 */
const CANARY = /canary-\d{4}(?=-)/g;
const numberOf = (index: number) => canaryOf(index).slice(0, 11);

const SOURCE = (index: number) => `
  import { exchange, hold } from '@codemode/servers/test';
  const mine = '${canaryOf(index)}';
  const text = mine.repeat(100);
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: 20 }, (_, n) => ({ ['key ' + mine + n]: mine + n }));
  const known = new Set(Object.getOwnPropertyNames(globalThis));
  console.log(mine);
  const back = await exchange(mine);
  await hold();
  let dirty = 0;
  for (const size of [64, 1_000, 8_192]) {
    const words = new Uint32Array(size);
    for (let at = 0; at < size; at++) if (words[at] !== 0) dirty++;
  }
  const strange = new Set();
  const look = (value) => { for (const found of String(value).match(/canary-[0-9]{4}/g) ?? []) if (found !== mine.slice(0, 11)) strange.add(found) };
  const seen = new Set(), queue = [globalThis, pieces, back];
  while (queue.length > 0) {
    const value = queue.pop();
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) { look(typeof value === 'symbol' ? '' : value); continue }
    if (seen.has(value) || value === bytes || seen.size > 200) continue;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) { look(typeof key === 'symbol' ? key.description : key); queue.push(Reflect.getOwnPropertyDescriptor(value, key).value) }
  }
  look(text.slice(7, 3_000)); look(new TextDecoder().decode(bytes.slice(3))); look(new Error('x').stack);
  const added = Object.getOwnPropertyNames(globalThis).filter((name) => !known.has(name));
  globalThis.__codemode_result__ = { mine, back, dirty, strange: [...strange], added };`;

const PAGE_BYTES = 4_096;
const IMAGE = decodeImage(readFileSync(new URL('../../dist/worker/image.bin', import.meta.url)));

/** The changed pages as they were in memory. Stored is the difference to the image, which would show what nobody wrote. */
function memoryOf(suspended: Buffer): string {
  const { head, pages } = unpack(suspended);
  const image = Buffer.alloc(head.memoryPages * 65_536);
  for (const { offset, bytes } of IMAGE.segments) image.set(bytes, offset);
  const memory = Buffer.from(pages);
  head.dirtyPages.forEach((page, index) => {
    for (let at = 0; at < PAGE_BYTES; at++) {
      const place = index * PAGE_BYTES + at;
      memory[place] = (memory[place] as number) ^ (image[page * PAGE_BYTES + at] as number);
    }
  });
  return memory.toString('latin1');
}

test('nobody finds another’s canary, through restores, suspensions and a recovery [A3, A35]', SLOW, async () => {
  await using box = await openSandbox({ max: 5, maxQueued: RUNS, maxRunsPerWorker: 256 });
  const released = deferred<void>();
  const holding = new Set<string>();
  const onCall = async (call: GuestCall): Promise<CallReply> => {
    if (call.target === 'test/exchange') {
      const [input] = JSON.parse(call.argumentsJson) as unknown[];
      return { ok: true, json: JSON.stringify({ input, at: call.runId }) };
    }
    holding.add(call.runId);
    await released.promise;
    return { ok: true, json: 'null' };
  };
  const functions = { exchange: () => null, hold: () => null };
  const reports = new Map<number, Promise<RunReport>>();
  const executions = new Map<number, SandboxRun>();
  const start = async (index: number) => {
    const caller = CALLERS[index % CALLERS.length] as CallerId;
    const { run, report } = await box.sandbox.start(
      { caller, program: box.program(SOURCE(index), { functions, limits: { timeoutMs: 300_000 } }) },
      { onCall },
    );
    executions.set(index, run as SandboxRun);
    reports.set(index, report);
  };
  // One of each caller first, so that each has a worker.
  for (let index = 0; index < CALLERS.length; index++) await start(index);
  await Promise.all(Array.from({ length: RUNS - CALLERS.length }, (_, index) => start(index + CALLERS.length)));
  await expect.poll(() => holding.size, { timeout: 150_000, interval: 20 }).toBe(RUNS);
  expect(new Set(box.sandbox.pool.workers.map(({ caller }) => caller)).size).toBe(CALLERS.length);

  // Some are suspended for good, to check that their image holds nothing of other programs.
  for (const index of [3, 300, 601, 902]) {
    const memory = memoryOf(await (executions.get(index) as SandboxRun).suspend());
    expect([...new Set(memory.match(CANARY))]).toEqual([numberOf(index)]);
    reports.delete(index);
  }
  // Some are suspended and resumed in any worker that has room.
  for (let index = 10; index < RUNS; index += 50) {
    const caller = CALLERS[index % CALLERS.length] as CallerId;
    const suspended = await box.sandbox.suspend(executions.get(index) as SandboxRun);
    const { run, report } = await box.sandbox.resume(suspended, caller, { onCall });
    run?.answer(2, { ok: true, json: 'null' });
    reports.set(index, report);
  }
  // One worker dies with all its programs in it. A caller whose worker is busy gets a second one: the fuller dies.
  const [victim] = box.sandbox.pool.workers
    .filter(({ caller }) => caller === 'bob')
    .sort((left, right) => right.runCount - left.runCount);
  expect(victim?.runCount).toBeGreaterThan(100);
  victim?.kill('the test');
  released.resolve();

  for (const [index, report] of reports) {
    const { outcome, logs, journal } = await report;
    const mine = canaryOf(index);
    expect(outcome.status === 'completed' ? JSON.parse(outcome.resultJson) : outcome).toEqual({
      mine,
      back: { input: mine, at: journal.runId },
      dirty: 0,
      strange: [],
      added: [],
    });
    expect(logs.map(({ message }) => message)).toEqual([mine]);
    const delivered = journal.deliveries
      .map((each) => ('body' in each ? Buffer.from(each.body).toString() : ''))
      .join();
    expect([...new Set(delivered.match(CANARY))]).toEqual([numberOf(index)]);
  }
});

test('a reused instance shows nothing of its last program, whatever that left in it', async () => {
  await using box = await openSandbox({ max: 1 });
  // Of several sizes: small ones fill holes of the image, the largest make the instance grow, and that is discarded.
  for (const count of [50, 100, 150, 200, 250, 300, 350]) {
    await box.run(
      `const left = []; for (let n = 0; n < ${count}; n++) left.push('canary-' + n, new Uint8Array(4_000).fill(0xca)); globalThis.left = left; throw new Error('canary')`,
    );
    // The next one sees none of it, and its own image holds only what it put there itself.
    const logged: unknown[] = [];
    const { run } = await box.sandbox.start(
      {
        caller: 'tester' as CallerId,
        program: box.program(
          `let dirty = 0; for (let n = 0; n < 20; n++) { const words = new Uint32Array(1_000); for (let at = 0; at < 1_000; at++) if (words[at] !== 0) dirty++ }
           console.log(dirty, typeof left); await new Promise((resolve) => setTimeout(resolve, 60_000))`,
        ),
      },
      { onCall: () => new Promise(() => {}), onLog: ({ message }) => logged.push(message) },
    );
    await expect.poll(() => run?.isWaiting, { timeout: 30_000 }).toBe(true);
    const image = memoryOf((await run?.suspend()) ?? Buffer.alloc(0));
    expect({ logged, texts: image.includes('canary'), bytes: image.includes('\xca\xca\xca\xca') }).toEqual({
      logged: ['0 undefined'],
      texts: false,
      bytes: false,
    });
  }
});
