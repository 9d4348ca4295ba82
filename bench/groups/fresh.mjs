// @ts-check
// A fresh run: a source never seen before, stripped of its types, started in its own sandbox, its value read back.
import { processorMs, processTree } from '../machine.mjs';
import { PEERS } from '../peers/peer.mjs';
import { finalValue, mustBe, openSandbox, programOf } from '../product.mjs';
import { scaled, timeConcurrent, timeEach } from '../stats.mjs';

const WIDTH = 20;
const SOURCE = (index) => `import { echo } from '@codemode/servers/bench';
const r: number = await Promise.resolve(40 + ${index});
globalThis.__codemode_result__ = r + 2;`;

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function measure({ quick, peers, missing }) {
  const one = await measureOneCaller(quick);
  /** @type {import('../table.mjs').Row[]} */
  const rows = [...one.rows, await measureManyCallers(quick)];
  for (const peer of PEERS) {
    if (peer.isLarge && !peers) continue;
    rows.push(await measurePeer(peer, missing, one, quick));
  }
  return rows;
}

async function measureOneCaller(quick) {
  const sandbox = await openSandbox();
  const run = freshRun(sandbox);
  await timeEach(scaled(1_000, quick), run);
  const spentBefore = processorMs(processTree(process.pid));
  const count = scaled(3_000, quick);
  const alone = await timeEach(count, run);
  const processorEach = (processorMs(processTree(process.pid)) - spentBefore) / count;
  await timeConcurrent(scaled(1_000, quick), WIDTH, () => run());
  const together = await timeConcurrent(scaled(6_000, quick), WIDTH, () => run());
  await sandbox.close();
  const rows = [
    {
      name: 'fresh jailed run, one at a time',
      ...latency(alone, 1_000 / alone.mean),
      goal: { p50: 0.35, p95: 1.2 },
      note: `${processorEach.toFixed(3)} ms of CPU time each, host and workers together`,
    },
    {
      name: 'fresh jailed runs, one caller, 20 at a time, 2 workers',
      ...latency(together, together.perSecond),
      goal: { atLeast: 3_000 },
    },
  ];
  return { alone, together, rows };
}

async function measureManyCallers(quick) {
  const sandbox = await openSandbox({ max: WIDTH });
  const run = freshRun(sandbox);
  await timeConcurrent(scaled(3_000, quick), WIDTH, run);
  const apart = await timeConcurrent(scaled(6_000, quick), WIDTH, run);
  await sandbox.close();
  return { name: 'fresh jailed runs, 20 callers, a worker each', ...latency(apart, apart.perSecond) };
}

async function measurePeer(peer, missing, ours, quick) {
  const reason = peer.package === undefined ? undefined : missing[peer.package];
  if (reason !== undefined) return { name: `peer: ${peer.package}`, note: `not installed: ${reason}` };
  let opened;
  try {
    const { open } = await import(`../peers/${peer.file}`);
    opened = await open();
  } catch (error) {
    return { name: `peer: ${peer.package ?? peer.file}`, note: `could not be started: ${error.message}` };
  }
  try {
    return await measureOpened(opened, peer, ours, quick);
  } finally {
    await opened.close();
  }
}

async function measureOpened({ name, run }, { goalRatio }, ours, quick) {
  let next = 0;
  const check = async () => {
    const index = next++;
    mustBe(await run(index), index + 42);
  };
  const { p50: roughMs } = await timeEach(10, check);
  // As many as fit into a few seconds: a slow peer needs no thousand samples to be seen to be slow.
  const count = scaled(Math.round(Math.min(2_000, Math.max(50, 5_000 / roughMs))), quick);
  await timeEach(Math.ceil(count / 4), check);
  const alone = await timeEach(count, check);
  const together = await timeConcurrent(count, WIDTH, check);
  return {
    name: `peer: ${name}`,
    ...latency(alone, together.perSecond),
    ratio: alone.p50 / ours.alone.p50,
    ...(goalRatio === undefined ? {} : { goal: { ratio: goalRatio } }),
    note: `runs/s with 20 at a time; ours are ${(ours.together.perSecond / together.perSecond).toFixed(1)} times as many`,
  };
}

/** Distinct sources: nothing that was compiled before may be found again. */
function freshRun(sandbox) {
  let next = 0;
  return async (lane = 0) => {
    const index = next++;
    mustBe(await finalValue(sandbox, await programOf(SOURCE(index)), { caller: `caller ${lane}` }), index + 42);
  };
}

function latency({ p50, p95 }, perSecond) {
  return { unit: 'ms', p50, p95, value: perSecond, valueUnit: 'runs/s' };
}
