// @ts-check
// Programs in Go: compiled for the first time, found compiled, and the standard library compiled before the first of all.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../scripts/repository.mjs';
import { loadProduct, mustBe, openBestJail } from '../product.mjs';
import { collect, scaled, timeEach } from '../stats.mjs';

const SAMPLES = 30;
/** A jail that has been started is not ready yet. */
const SETTLE_MS = 100;

/** @param {{ quick: boolean }} options */
export async function measure({ quick }) {
  const { GoRuntime, DEFAULT_PROCESS_LIMITS, declareGo, goFile } = await loadProduct();
  const cacheFolder = mkdtempSync(join(tmpdir(), 'codemode-bench-go-'));
  chmodSync(cacheFolder, 0o755);
  const runtime = await GoRuntime.open({
    jail: await openBestJail(),
    workerFolder: join(ROOT, 'dist', 'worker'),
    searchPath: '/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin',
    cacheFolder,
  });
  const status = runtime.available();
  if ('reason' in status) return [{ name: 'a Go program', note: status.reason }];
  try {
    const cold = await timeEach(1, () => runtime.warm());
    const tools = goFile(declareGo([{ serverId: 'bench', name: 'echo', inputSchema: SCHEMA }]).declarations);
    const run = async (index) => {
      const source = `text, err := echo(ctx, EchoInput{Value: ${index}})\nfmt.Println(text)\nreturn err`;
      const { output } = await runtime.run(
        { source, tools, limits: DEFAULT_PROCESS_LIMITS },
        { caller: 'bench', onCall: async ({ argumentsJson }) => ({ ok: true, json: argumentsJson }) },
      );
      mustBe(output, `[{"value":${index}}]\n`);
    };
    let next = 0;
    const timed = async (/** @type {number} */ index) => {
      // As an agent does: it thinks before it runs the next, and the jail for it is made meanwhile.
      await runtime.warm();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      const start = performance.now();
      await run(index);
      return performance.now() - start;
    };
    await run(next++);
    const first = await collect(scaled(SAMPLES, quick), () => timed(next++));
    const again = await collect(scaled(SAMPLES, quick), () => timed(0));
    const name = (/** @type {string} */ what) => `${status.version} program ${what}`;
    return [
      { name: name('that is compiled first'), unit: 'ms', p50: first.p50, p95: first.p95, goal: { p50: 300 } },
      { name: name('that was compiled before'), unit: 'ms', p50: again.p50, p95: again.p95, goal: { p50: 15 } },
      { name: name('of a new toolchain: its packages compiled, once'), unit: 'ms', p50: cold.p50, p95: cold.p95 },
    ];
  } finally {
    await runtime.close();
    rmSync(cacheFolder, { recursive: true, force: true });
  }
}

const SCHEMA = { type: 'object', properties: { value: { type: 'integer' } }, required: ['value'] };
