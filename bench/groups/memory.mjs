// @ts-check
// What the host keeps of runs that have ended: it should be nothing.
import { residentBytes } from '../machine.mjs';
import { finalValue, mustBe, openSandbox, programOf } from '../product.mjs';
import { scaled, timeConcurrent } from '../stats.mjs';

const MEGABYTE = 1024 * 1024;
const WIDTH = 20;
/** Growth that is the collector's and the allocator's business, not something kept for each run. */
const FLAT_MEGABYTES = 20;

export async function measure({ quick }) {
  const runs = scaled(10_000, quick);
  const sandbox = await openSandbox();
  try {
    const idle = await resident();
    const idleHeap = heap();
    let next = 0;
    const run = async () => {
      const index = next++;
      const source = `import { echo } from '@codemode/servers/bench';
        const [n] = await echo(${index}); console.log('got', n); globalThis.__codemode_result__ = n;`;
      mustBe(await finalValue(sandbox, await programOf(source)), index);
    };
    // The first runs compile the host's own code and size its heap; what grows after them grows forever.
    await timeConcurrent(scaled(2_000, quick), WIDTH, run);
    const warm = await resident();
    const warmHeap = heap();
    await timeConcurrent(runs, WIDTH, run);
    const after = await resident();
    const grownHeap = heap() - warmHeap;
    return [
      { name: 'host memory, idle', unit: 'MB', value: idle, note: `${idleHeap.toFixed(1)} MB of it objects` },
      {
        name: 'host memory, warm after 2,000 runs',
        unit: 'MB',
        value: warm,
        note: `${warmHeap.toFixed(1)} MB of it objects`,
      },
      {
        name: `host memory, growth over ${runs} more runs`,
        unit: 'MB',
        value: after - warm,
        goal: { atMost: FLAT_MEGABYTES },
        note: `objects grew by ${grownHeap.toFixed(2)} MB: ${((grownHeap * MEGABYTE) / runs).toFixed(0)} bytes a run`,
      },
    ];
  } finally {
    await sandbox.close();
  }
}

async function resident() {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return residentBytes([process.pid]) / MEGABYTE;
}

function heap() {
  return process.memoryUsage().heapUsed / MEGABYTE;
}
