import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { CallerId, CallNumber, RunId } from '../../domain/run.js';
import { deferred } from '../../lib/async/deferred.js';
import { type HeldRun, RunWorker } from './run-worker.js';
import type { WorkerProcess } from './worker-process.js';

/** Whatever a process does, a worker that answers nothing for so long is stalled. */
const PATIENCE_MS = 2_000;

/** A worker whose process is a real one, and which is computing one program and owes an answer to another. */
async function busyWorker(script: string) {
  const child: ChildProcess = spawn(process.execPath, ['-e', `console.log('begins'); ${script}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  const told = deferred<void>();
  let stalls = 0;
  const held = (id: string): HeldRun => ({
    id: id as RunId,
    receive: () => {},
    workerLost: () => {},
    workerTaken: () => {},
    workerStalled: () => {
      stalls += 1;
      told.resolve();
    },
  });
  const channel = { pid: child.pid, hasExited: false, listen: () => {}, send: () => {} } as unknown as WorkerProcess;
  const worker = new RunWorker(channel, 'somebody' as CallerId, { workerChanged: () => {}, workerAnswered: () => {} });
  const startedMs = performance.now();
  for (const id of ['first', 'second']) {
    worker.reserve();
    worker.admit(held(id));
    worker.assign({ type: 'call/result', execution: id as RunId, call: 1 as CallNumber, atMs: 0 });
  }
  const end = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { stalls: () => stalls, told: told.promise, startedMs, end };
}

test('a program that computes is left to itself, and the one behind it moves', async () => {
  const { told, stalls, end } = await busyWorker('for (;;);');
  await told;
  expect(stalls()).toBe(1);
  await end();
});

test('programs stay with a worker that gets no core', async () => {
  const { stalls, startedMs, end } = await busyWorker('setInterval(() => {}, 60_000)');
  await new Promise((resolve) => setTimeout(resolve, 400));
  if (performance.now() - startedMs < PATIENCE_MS) expect(stalls()).toBe(0);
  await end();
});
