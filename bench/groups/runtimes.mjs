// @ts-check
// Programs on real Node and real CPython: with a process that stands ready, and with one that has to be started first.
import { join } from 'node:path';
import { ROOT } from '../../scripts/repository.mjs';
import { loadProduct, mustBe, openBestJail } from '../product.mjs';
import { collect, scaled, timeConcurrent } from '../stats.mjs';

const SAMPLES = 60;
const WIDTH = 4;
const GOALS = { python: 5, node: 10 };
const SOURCES = {
  python: (index) => `import json\nresult = json.loads("${index}") + 42`,
  node: (index) => `const value: number = JSON.parse("${index}");\nglobalThis.result = value + 42;`,
};
/** A start leaves caches cold and a core busy for a moment after its hello. */
const SETTLE_MS = 50;

/** @param {{ quick: boolean }} options */
export async function measure({ quick }) {
  const rows = [];
  for (const language of /** @type {const} */ (['python', 'node']))
    rows.push(...(await measureLanguage(language, quick)));
  return rows;
}

async function measureLanguage(language, quick) {
  const count = scaled(SAMPLES, quick);
  const warm = await open({ perShape: 1 });
  const status = warm.available().find((each) => each.language === language);
  if (!status.isAvailable) return [{ name: `a ${language} program`, note: status.reason }];
  const cold = await open({ perShape: 0 });
  try {
    const run = runner(language);
    const timed = async (runtimes) => {
      const start = performance.now();
      await run(runtimes);
      return performance.now() - start;
    };
    const ready = async () => {
      await warm.warm(language);
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      return timed(warm);
    };
    await collect(3, ready);
    await timed(cold);
    const warmed = await collect(count, ready);
    const started = await collect(count, () => timed(cold));
    const together = await timeConcurrent(count, WIDTH, () => run(warm));
    return [
      {
        name: `${language} ${status.version} program, process ready`,
        unit: 'ms',
        p50: warmed.p50,
        p95: warmed.p95,
        value: together.perSecond,
        valueUnit: 'runs/s',
        goal: { p50: GOALS[language] },
        note: `runs/s with ${WIDTH} at a time, when starts are what limits them`,
      },
      {
        name: `${language} ${status.version} program, jail started for it`,
        unit: 'ms',
        p50: started.p50,
        p95: started.p95,
        ratio: started.p50 / warmed.p50,
      },
    ];
  } finally {
    await Promise.all([warm.close(), cold.close()]);
  }
}

async function open(spares) {
  const { ProcessRuntimes } = await loadProduct();
  return ProcessRuntimes.open({
    jail: await openBestJail(),
    workerFolder: join(ROOT, 'dist', 'worker'),
    searchPath: '/usr/local/bin:/usr/bin:/bin',
    spares,
  });
}

function runner(language) {
  let next = 0;
  return async (runtimes) => {
    const { DEFAULT_PROCESS_LIMITS } = await loadProduct();
    const index = next++;
    const { outcome } = await runtimes.run(
      { language, source: SOURCES[language](index), files: new Map(), limits: DEFAULT_PROCESS_LIMITS },
      { caller: 'bench', onCall: async ({ argumentsJson }) => ({ ok: true, json: argumentsJson }) },
    );
    if (outcome.status !== 'completed') throw new Error(`a program failed: ${JSON.stringify(outcome.failure)}`);
    mustBe(JSON.parse(outcome.resultJson), index + 42);
  };
}
