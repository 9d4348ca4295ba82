// @ts-check
// Programs that wait for a slow tool, all at once: each holds memory, none holds a worker.
import { MEGABYTE, SIMPLE, startServe } from './serve.mjs';

const SLOW_MS = 2_000;
/** They do not all come in one moment, and the last is there before the first has its answer. */
const STARTS_PER_SECOND = 500;
const LOOK_EVERY_MS = 200;
const CODE = (index, ms) => `const kept = Array.from({ length: 100 }, (_, i) => ({ i, text: 'row ' + i }));
await mcp.everyday.slow({ ms: ${ms} });
return [${index}, kept.length];`;

export async function measure({ quick }) {
  const runs = quick ? 200 : 2_000;
  // Each waits until all are there, and for two seconds more.
  const ms = SLOW_MS + (runs * 1_000) / STARTS_PER_SECOND;
  // All of them are one caller's, who may have 1,000 at once unless configured.
  const serve = await startServe({ config: { quotas: { runs: 2 * runs } } });
  try {
    const [token] = /** @type {[string]} */ (serve.tokens);
    const client = serve.openClient(runs);
    const metrics = serve.openClient(1);
    for (let index = 0; index < 200; index++) await client.run(token, SIMPLE);
    const idle = serve.measure();
    const begun = performance.now();
    let [answered, wrong] = [0, 0];
    const all = Promise.all(
      Array.from({ length: runs }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, (index * 1_000) / STARTS_PER_SECOND));
        const { status, answer } = await client.execute(token, CODE(index, ms), { timeout: 120_000 });
        if (status === 200 && JSON.stringify(answer.result) === JSON.stringify([index, 100])) answered++;
        else if (wrong++ === 0) process.stderr.write(`a run was answered with ${status} ${JSON.stringify(answer)}\n`);
      }),
    );
    const peak = { running: 0, workers: 0, treeBytes: idle.treeBytes, hostBytes: idle.hostBytes };
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        const { text } = await metrics.get('/metrics', token);
        const { treeBytes, hostBytes } = serve.measure();
        if (treeBytes > peak.treeBytes) Object.assign(peak, { treeBytes, hostBytes });
        peak.running = Math.max(peak.running, gauge(text, 'running'));
        peak.workers = Math.max(peak.workers, gauge(text, 'processes'));
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    })();
    await all;
    const totalMs = performance.now() - begun;
    isOver = true;
    await watching;
    return [
      {
        name: `${runs} runs waiting for a slow tool: answered right`,
        value: answered,
        goal: { atLeast: runs },
        note: `${peak.running} were waiting at the same time; all over after ${Math.round(totalMs)} ms, the tool takes ${Math.round(ms)}`,
      },
      { name: `${runs} runs waiting for a slow tool: workers`, value: peak.workers, goal: { atMost: 10 } },
      {
        name: `${runs} runs waiting for a slow tool: memory of each`,
        ...{ unit: 'MB', value: (peak.treeBytes - idle.treeBytes) / Math.max(1, peak.running) / MEGABYTE },
        goal: { atMost: 4 },
        note: `PSS of host, workers and server together, above ${Math.round(idle.treeBytes / MEGABYTE)} MB before; of it in the host ${((peak.hostBytes - idle.hostBytes) / Math.max(1, peak.running) / MEGABYTE).toFixed(2)} MB (RSS)`,
      },
    ];
  } finally {
    await serve.close();
  }
}

function gauge(text, kind) {
  return Number(new RegExp(`codemode_workers\\{kind="${kind}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}
