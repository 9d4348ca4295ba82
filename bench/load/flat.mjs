// @ts-check
// What is left of runs that have ended. A leak is what still grows after the caches are full and garbage is collected.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { peakResidentBytes } from '../machine.mjs';
import { timeConcurrent } from '../stats.mjs';
import { MEGABYTE, SIMPLE, startServe, WITH_CALL } from './serve.mjs';

const WIDTH = 8;
const CALLERS = 4;
/** C15: the whole of it runs in this. */
const WHOLE_MEGABYTES = 512;
/** Above this it is not noise of the collector: objects by linear regression over the rounds. */
const LEAK_BYTES_PER_RUN = 50;

export async function measure({ quick, soakMinutes }) {
  const rounds = 10;
  const each = quick ? 500 : 5_000;
  const serve = await startServe({ callers: CALLERS, workers: { min: 2, max: CALLERS } });
  try {
    const client = serve.openClient(WIDTH);
    const run = (lane) =>
      client.run(serve.tokens[lane % CALLERS] ?? '', lane % 2 === 0 && lane > 3 ? WITH_CALL : SIMPLE);
    await timeConcurrent(each, WIDTH, run);
    const seen = [await look(serve, client)];
    const peak = { tree: 0 };
    const observe = async () => {
      seen.push(await look(serve, client));
      peak.tree = Math.max(peak.tree, serve.measure().treeBytes);
    };
    const watch = setInterval(() => {
      peak.tree = Math.max(peak.tree, serve.measure().treeBytes);
    }, 500);
    let runs = 0;
    for (let round = 0; round < rounds; round++, runs += each) {
      await timeConcurrent(each, WIDTH, run);
      await observe();
    }
    const until = performance.now() + soakMinutes * 60_000;
    for (; performance.now() < until; runs += each) {
      await timeConcurrent(each, WIDTH, run);
      await observe();
    }
    clearInterval(watch);
    await idled();
    const [first, last] = [seen[0], await look(serve, client)];
    const heapSlope = slope(seen.map(({ runs: at, heap }) => [at, heap]));
    const residentSlope = slope(seen.map(({ runs: at, resident }) => [at, resident]));
    const grown = (name) => `${first?.[name]} before, ${last[name]} after`;
    return [
      {
        name: `host objects over ${runs} runs, growth per run`,
        ...{ unit: 'bytes', value: heapSlope },
        goal: { atMost: LEAK_BYTES_PER_RUN },
        note: `after forced collections; ${shown(seen)
          .map(({ heap }) => (heap / MEGABYTE).toFixed(1))
          .join(', ')} MB`,
      },
      {
        name: `host memory over ${runs} runs, growth per run`,
        ...{ unit: 'bytes', value: residentSlope },
        note: `RSS ${shown(seen)
          .map(({ resident }) => (resident / MEGABYTE).toFixed(0))
          .join(', ')} MB`,
      },
      {
        name: `descriptors of the host after ${runs} runs, more than before`,
        value: last.descriptors - (first?.descriptors ?? 0),
        goal: { atMost: 4 },
        note: grown('descriptors'),
      },
      {
        name: `processes after ${runs} runs, more than before`,
        value: last.processes - (first?.processes ?? 0),
        goal: { atMost: 0 },
        note: grown('processes'),
      },
      {
        name: `temporary files after ${runs} runs, more than before`,
        value: last.temporary - (first?.temporary ?? 0),
        goal: { atMost: 0 },
        note: `state folder ${(last.stateBytes / MEGABYTE).toFixed(1)} MB, ${((first?.stateBytes ?? 0) / MEGABYTE).toFixed(1)} MB before`,
      },
      {
        name: 'most memory of host, workers and server together',
        ...{ unit: 'MB', value: peak.tree / MEGABYTE },
        goal: { atMost: WHOLE_MEGABYTES },
        note: `PSS; the host alone at most ${Math.round(peakResidentBytes(serve.pid) / MEGABYTE)} MB (RSS)`,
      },
    ];
  } finally {
    await serve.close();
  }
}

async function look(serve, client) {
  const heap = await serve.inspector.heapBytes();
  const { hostBytes, descriptors, processes } = serve.measure();
  const { text } = await client.get('/metrics', serve.tokens[0]);
  const runs = Number(/^codemode_run_duration_seconds_count\{.*outcome="success"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  const temporary = readdirSync(serve.temporaryFolder).length;
  return {
    ...{ runs, heap, resident: hostBytes, descriptors, processes, temporary },
    stateBytes: bytesIn(serve.stateFolder),
  };
}

/** Connections that are not used are closed, workers that have nothing to do as well. */
function idled() {
  return new Promise((resolve) => setTimeout(resolve, 1_000));
}

function bytesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** A dozen of them, from the first to the last: a soak has hundreds. */
function shown(seen) {
  const step = Math.max(1, (seen.length - 1) / 11);
  return seen.filter((_, index) => Math.floor(index / step) > Math.floor((index - 1) / step));
}

/** Of the line that fits best. @param {number[][]} points */
function slope(points) {
  const mean = (index) => points.reduce((sum, point) => sum + (point[index] ?? 0), 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  let [above, below] = [0, 0];
  for (const [x = 0, y = 0] of points) {
    above += (x - meanX) * (y - meanY);
    below += (x - meanX) ** 2;
  }
  return below === 0 ? 0 : above / below;
}
