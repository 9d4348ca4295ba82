// Measures tool search against plain BM25: recall for whole tasks and for single steps, and the time it takes.
// Over the repository's own corpus and queries, or over those of the folder that CODEMODE_SHARED names.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { QUERIES } from '../test/corpus/own/queries.mjs';
import { CORPUS_NAME, isReference, readRetrievalTasks, toolsetDocuments } from './corpus.mjs';
import { createBm25 } from './plain-bm25.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const CUTS = [1, 5, 10];
const TIMED_TOOLS = 2_000;

const { createSearchIndex } = await load('src/catalog/search.ts');
const { documents: benchmarkDocuments, tasks } = readRetrievalTasks();
const ownDocuments = toolsetDocuments();
const engines = (documents) => ({ 'plain BM25': createBm25(documents), codemode: createSearchIndex(documents) });

console.log(`Corpus: ${CORPUS_NAME}`);
if (isReference) reportBenchmark();
reportOwnQueries();
reportTimings();

/** The benchmark names tools without their server: any server's tool of that name counts as the needed one. */
function reportBenchmark() {
  const rows = [];
  for (const [engine, index] of Object.entries(engines(benchmarkDocuments))) {
    const namesFor = (query) => index.search(query, { limit: Math.max(...CUTS) }).map((hit) => hit.tool.name);
    const whole = tasks.map((task) => ({ task, lists: [namesFor(task.query)] }));
    const steps = tasks.map((task) => ({ task, lists: task.steps.map(namesFor) }));
    const foundShare = ({ task, lists }, cut) =>
      share(task.expectedToolNames, (name) => lists.some((names) => names.slice(0, cut).includes(name)));
    const hitShare = ({ task, lists }, cut) =>
      share(lists, (names) => names.slice(0, cut).some((name) => task.expectedToolNames.includes(name)));
    rows.push([
      `whole task: needed tools found`,
      engine,
      ...CUTS.map((cut) => mean(whole, (row) => foundShare(row, cut))),
    ]);
    rows.push([
      `per step: needed tools found by any step`,
      engine,
      ...CUTS.map((cut) => mean(steps, (row) => foundShare(row, cut))),
    ]);
    rows.push([
      `per step: steps with a needed tool`,
      engine,
      ...CUTS.map((cut) => mean(steps, (row) => hitShare(row, cut))),
    ]);
  }
  printTable(`LiveMCPBench dev: ${tasks.length} tasks over ${benchmarkDocuments.length} tools`, rows);
}

function reportOwnQueries() {
  const queries = isReference
    ? readJson(join(root, 'bench', 'search-queries.json')).queries
    : QUERIES.map((query) => ({ ...query, set: 'own corpus', corpus: 'toolsets' }));
  const corpora = {
    toolsets: engines(ownDocuments),
    ...(isReference && { livemcpbench: engines(benchmarkDocuments) }),
  };
  for (const set of new Set(queries.map((query) => query.set))) {
    const rows = [];
    for (const [corpusName, indexes] of Object.entries(corpora)) {
      for (const kind of ['one step', 'several steps']) {
        const asked = queries.filter(
          (query) =>
            query.set === set && query.corpus === corpusName && query.needs.length > 1 === (kind === 'several steps'),
        );
        if (asked.length === 0) continue;
        for (const [engine, index] of Object.entries(indexes)) {
          const ranked = asked.map((query) => ({ query, ids: idsFor(index, query.query) }));
          const found = ({ query, ids }, cut) =>
            share(query.needs, (alternatives) => alternatives.some((id) => ids.slice(0, cut).includes(id)));
          const recalls = CUTS.map((cut) => mean(ranked, (row) => found(row, cut)));
          rows.push([`${corpusName}, ${kind} (${asked.length})`, engine, ...recalls]);
        }
      }
    }
    printTable(`Own queries, ${set}`, rows);
  }
}

function reportTimings() {
  const pool = isReference ? [...ownDocuments, ...benchmarkDocuments] : ownDocuments;
  const documents = Array.from({ length: TIMED_TOOLS }, (_, position) => {
    const source = pool[position % pool.length];
    const copy = Math.floor(position / pool.length);
    return { ...source, tool: { ...source.tool, serverId: `${source.tool.serverId}${copy === 0 ? '' : `-${copy}`}` } };
  });
  createSearchIndex(documents); // compiles the code; the builds after it are what a running host pays
  const builds = Array.from({ length: 5 }, () => timed(() => createSearchIndex(documents)));
  const index = createSearchIndex(documents);
  const queries = {
    'whole task': tasks.map((task) => task.query),
    step: tasks.flatMap((task) => task.steps),
  };
  console.log(`\nTimes for ${TIMED_TOOLS} tools (node ${process.version})`);
  console.log(`  build                p50 ${percentile(builds, 0.5).toFixed(1)} ms`);
  for (const [kind, texts] of Object.entries(queries)) {
    for (const text of texts) index.search(text);
    const times = Array.from({ length: 10 }, () => texts.map((text) => timed(() => index.search(text)))).flat();
    const figures = [0.5, 0.95, 1].map((part) => percentile(times, part).toFixed(3));
    console.log(`  query, ${kind.padEnd(12)}  p50 ${figures[0]} ms   p95 ${figures[1]} ms   max ${figures[2]} ms`);
  }
}

async function load(entry) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  try {
    const outfile = join(folder, 'bundle.mjs');
    await build({
      entryPoints: [join(root, entry)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'error',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function idsFor(index, query) {
  return index.search(query, { limit: Math.max(...CUTS) }).map((hit) => `${hit.tool.serverId}/${hit.tool.name}`);
}

function share(items, holds) {
  return items.length === 0 ? 0 : items.filter(holds).length / items.length;
}

function mean(rows, value) {
  return rows.reduce((sum, row) => sum + value(row), 0) / rows.length;
}

function timed(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function percentile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

function printTable(title, rows) {
  console.log(`\n${title}`);
  console.log(`  ${''.padEnd(42)}${''.padEnd(12)}${CUTS.map((cut) => `recall@${cut}`.padStart(11)).join('')}`);
  for (const [what, engine, ...values] of rows.sort((a, b) => a[0].localeCompare(b[0]) || b[1].localeCompare(a[1]))) {
    console.log(
      `  ${what.padEnd(42)}${engine.padEnd(12)}${values.map((value) => value.toFixed(3).padStart(11)).join('')}`,
    );
  }
}
