/*
 * What an agent reads before its first program, in tokens (o200k), beside all tool definitions up front as JSON.
 *
 *   node bench/prompt.mjs
 *
 * Needs the corpus of real tools (CODEMODE_SHARED, default ../shared).
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.CODEMODE_SHARED ??= join(root, '../shared');
if (!existsSync(join(process.env.CODEMODE_SHARED, 'corpus/toolsets'))) {
  console.error('no corpus: set CODEMODE_SHARED to the folder that has corpus/toolsets');
  process.exit(2);
}

const { briefCatalog, corpusSnapshot, serverInstructions, toolDescription, toolInputSchema, toolOutputSchema } =
  await load(`
    export * from './src/catalog/briefing/briefing.js';
    export * from './src/profiles/codemode/prompt/server-instructions.js';
    export * from './src/profiles/codemode/prompt/tool-description.js';
    export * from './src/profiles/codemode/prompt/tool-schemas.js';
    export { corpusSnapshot } from './test/support/catalog.js';
  `);

const snapshot = corpusSnapshot();
const definitions = snapshot.servers.flatMap(({ tools }) => tools.map(({ tool: { serverId, ...tool } }) => tool));
const inputsOnly = definitions.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
const upFront = countTokens(JSON.stringify(inputsOnly));
console.log(`${definitions.length} tools of ${snapshot.servers.length} servers, as JSON:`);
console.log(
  `  as the server sends them ${countTokens(JSON.stringify(definitions))}, name, description and input ${upFront}`,
);
const schemas = countTokens(JSON.stringify([toolInputSchema(), toolOutputSchema()]));
for (const budgetTokens of [4_000, 12_000, 25_000]) {
  const startedAt = performance.now();
  const briefing = briefCatalog(snapshot, { budgetTokens });
  const ms = performance.now() - startedAt;
  const description = countTokens(toolDescription({ briefing }));
  const instructions = countTokens(serverInstructions({ briefing }));
  const total = schemas + description + instructions;
  console.log(
    `budget ${budgetTokens}: ${briefing.level}, servers ${countTokens(briefing.text)} (estimated ${briefing.estimatedTokens}); ` +
      `schemas ${schemas} + description ${description} + instructions ${instructions} = ${total}, ` +
      `${((100 * total) / upFront).toFixed(2)} % of the JSON, made in ${ms.toFixed(0)} ms`,
  );
}

async function load(contents) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  try {
    const outfile = join(folder, 'bundle.mjs');
    const stdin = { contents, resolveDir: root, loader: 'ts' };
    await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'error' });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
