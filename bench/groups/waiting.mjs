// @ts-check
// A thousand programs that wait for a slow tool at the same time.
import { processTree, residentBytes } from '../machine.mjs';
import { finalValue, mustBe, openSandbox, programOf } from '../product.mjs';

const MEGABYTE = 1024 * 1024;
const MAX_WORKERS = 4;
const SOURCE = (index) => `import { slow } from '@codemode/servers/bench';
const kept = Array.from({ length: 100 }, (_, i) => ({ i, text: 'row ' + i }));
const [{ n }] = await slow({ n: ${index} });
globalThis.__codemode_result__ = [n, kept.length];`;

export async function measure({ quick }) {
  const runs = quick ? 100 : 1_000;
  const sandbox = await openSandbox({ max: MAX_WORKERS });
  try {
    // One worker that has done some work and holds nothing: what is above that is there because of those who wait.
    for (let index = 0; index < 200; index++) await finished(sandbox, index, Promise.resolve());
    const baseBytes = workersResident(sandbox) / sandbox.pool.workers.length;

    let open = 0;
    let release = () => {};
    const released = new Promise((resolve) => {
      release = () => resolve(undefined);
    });
    const start = performance.now();
    const all = Array.from({ length: runs }, (_, index) => finished(sandbox, index, released, () => open++));
    while (open < runs) await new Promise((resolve) => setTimeout(resolve, 2));
    const startedMs = performance.now() - start;
    const workers = sandbox.pool.workers.length;
    const perRun = (workersResident(sandbox) - baseBytes * workers) / runs / MEGABYTE;
    release();
    await Promise.all(all);
    const totalMs = performance.now() - start;
    return [
      { name: `${runs} runs waiting at once: workers`, value: workers, goal: { atMost: MAX_WORKERS } },
      {
        name: `${runs} runs waiting at once: memory of each`,
        unit: 'MB',
        value: perRun,
        goal: { atMost: 4 },
        note: 'resident in the workers, without what they use with nothing to do',
      },
      {
        name: `${runs} runs waiting at once: from the first start until all wait`,
        unit: 'ms',
        value: startedMs,
        note: `all came to the right result, ${Math.round(totalMs - startedMs)} ms after the tool answered`,
      },
    ];
  } finally {
    await sandbox.close();
  }
}

async function finished(sandbox, index, released, onOpen = () => {}) {
  const handlers = {
    onCall: async ({ argumentsJson }) => {
      onOpen();
      await released;
      return { ok: true, json: argumentsJson };
    },
  };
  const program = await programOf(SOURCE(index), { calls: ['slow'] });
  mustBe(await finalValue(sandbox, program, { handlers }), [index, 100]);
}

function workersResident(sandbox) {
  return residentBytes(sandbox.pool.workers.flatMap(({ process: { pid } }) => processTree(pid)));
}
