// @ts-check
// What the loss of a worker costs: the next run, and a run that had got far and is rebuilt from its journal.
import { finalValue, mustBe, openSandbox, programOf } from '../product.mjs';
import { collect, scaled } from '../stats.mjs';

const CALLER = 'bench';
const DELIVERIES = 100;
const TRIVIAL = 'globalThis.__codemode_result__ = 42;';
const LONG = (calls) => `import { echo } from '@codemode/servers/bench'; let sum = 0;
for (let i = 0; i < ${calls}; i++) { const [{ n }] = await echo({ n: i }); sum += n; }
globalThis.__codemode_result__ = sum;`;

export async function measure({ quick }) {
  const sandbox = await openSandbox({ max: 1 });
  const count = scaled(20, quick);
  const row = (name, { p50, p95 }, more) => ({ name, unit: 'ms', p50, p95, ...more });
  try {
    await collect(5, () => replaceWorker(sandbox));
    const replaced = await collect(count, () => replaceWorker(sandbox));
    const rebuild = await rebuildFrom(sandbox);
    await collect(10, rebuild);
    const rebuilt = await collect(scaled(50, quick), rebuild);
    const moved = await collect(count, () => loseWorkerWhileWaiting(sandbox));
    return [
      row('worker killed, until the next run has its result', replaced, { goal: { p50: 50 } }),
      row(`run rebuilt from a journal of ${DELIVERIES} deliveries`, rebuilt, {
        goal: { p50: 10 },
        note: 'stripping its types included, to its end',
      }),
      row('worker killed, until the run in it waits in another where it waited', moved, {
        note: `its journal holds ${DELIVERIES} deliveries`,
      }),
    ];
  } finally {
    await sandbox.close();
  }
}

async function replaceWorker(sandbox) {
  const program = await programOf(TRIVIAL);
  mustBe(await finalValue(sandbox, program), 42);
  await settled();
  const start = performance.now();
  await killWorkers(sandbox);
  mustBe(await finalValue(sandbox, program), 42);
  return performance.now() - start;
}

async function rebuildFrom(sandbox) {
  const handlers = { onCall: async ({ argumentsJson }) => ({ ok: true, json: argumentsJson }) };
  const program = await programOf(LONG(DELIVERIES));
  const { report } = await sandbox.start({ caller: CALLER, program }, handlers);
  const { journal, outcome } = await report;
  mustBe(journal.deliveries.length, DELIVERIES);
  return async () => {
    const start = performance.now();
    const again = await sandbox.replay(journal, CALLER);
    const elapsed = performance.now() - start;
    mustBe([again.divergence ?? null, again.report.outcome], [null, outcome]);
    return elapsed;
  };
}

async function loseWorkerWhileWaiting(sandbox) {
  const handlers = {
    onCall: async ({ number, argumentsJson }) =>
      number > DELIVERIES ? new Promise(() => {}) : { ok: true, json: argumentsJson },
  };
  const program = await programOf(LONG(DELIVERIES + 1));
  const { run } = await sandbox.start({ caller: CALLER, program }, handlers);
  await until(() => run.isWaiting && run.journal.calls.length > DELIVERIES);
  await settled();
  const start = performance.now();
  await killWorkers(sandbox);
  await until(() => run.isWaiting);
  const elapsed = performance.now() - start;
  mustBe(run.openCalls.length, 1);
  run.cancel();
  await run.report;
  return elapsed;
}

async function killWorkers(sandbox) {
  const { workers } = sandbox.pool;
  for (const worker of workers) worker.kill('the bench wants to see it replaced');
  await until(() => workers.every(({ isLost }) => isLost));
}

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** Spares are started behind the scenes; what comes next must not be timed together with that. */
function settled() {
  return new Promise((resolve) => setTimeout(resolve, 200));
}
