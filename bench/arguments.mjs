/*
 * How long it takes to check arguments of tools, beside @cfworker/json-schema.
 *
 *   node bench/arguments.mjs
 *
 * Over the repository's own corpus, or over real tools where CODEMODE_SHARED names the folder that has them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Validator } from '@cfworker/json-schema';
import { build } from 'esbuild';
import { CORPUS_NAME, readToolsets } from './corpus.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROUNDS = 5;
const VALUES_PER_TOOL = 5;

const source = (path) => JSON.stringify(join(root, path));
const { compileSchema, findProblems, ToolChecker, exampleInput, schemaValues } = await loadEntry(`
  export { compileSchema } from ${source('src/broker/arguments/compile.ts')};
  export { findProblems } from ${source('src/broker/arguments/evaluate.ts')};
  export { ToolChecker } from ${source('src/broker/arguments/tool-checker.ts')};
  export { exampleInput } from ${source('src/catalog/examples.ts')};
  export { schemaValues } from ${source('test/support/schema-values.ts')};
`);
const tools = readToolsets()
  .flatMap((server) => server.tools)
  .filter(({ inputSchema }) => inputSchema !== undefined);
const inputs = tools.flatMap((tool, index) =>
  [...schemaValues(tool.inputSchema, index, VALUES_PER_TOOL)].map((value) => ({ tool, index, value })),
);
console.log(`${CORPUS_NAME}: ${tools.length} tools, ${inputs.length} inputs, Node ${process.version}`);

const cold = tools.map(({ inputSchema }) => timeMs(() => compileSchema(inputSchema))).sort((a, b) => a - b);
const at = (share) => `${(cold[Math.floor(share * (cold.length - 1))] * 1000).toFixed(0)} µs`;
console.log(`reading a schema for the first time: p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`);

const rules = tools.map(({ inputSchema }) => compileSchema(inputSchema).root);
const peers = tools.map(({ inputSchema }) => new Validator(structuredClone(inputSchema), '2020-12', false));
report('checking an input', () => {
  for (const { index, value } of inputs) findProblems(rules[index], value);
});
report('the same with @cfworker/json-schema', () => {
  for (const { index, value } of inputs) {
    try {
      peers[index].validate(value);
    } catch {
      // a pattern that it does not understand
    }
  }
});

const checker = new ToolChecker(exampleInput);
const refused = inputs.filter(({ tool, value }) => !checker.checkArguments(tool, tool.name, value).ok);
const errorMs = timeMs(() => {
  for (const { tool, value } of refused) checker.checkArguments(tool, tool.name, value);
});
console.log(`telling what is wrong, with an example: ${((errorMs * 1000) / refused.length).toFixed(0)} µs`);

function report(what, run) {
  const times = Array.from({ length: ROUNDS }, () => timeMs(run)).sort((a, b) => a - b);
  console.log(`${what}: ${((times[ROUNDS >> 1] * 1000) / inputs.length).toFixed(2)} µs`);
}

function timeMs(run) {
  const start = performance.now();
  run();
  return performance.now() - start;
}

async function loadEntry(contents) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  const outfile = join(folder, 'entry.mjs');
  const stdin = { contents, resolveDir: root, loader: 'ts' };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', target: 'node20', outfile });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
