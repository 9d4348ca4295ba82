/*
 * How long declarations of real tools take, and how many tokens they cost.
 *
 *   node bench/declarations.mjs [--rounds N]
 *
 * Needs the corpus of real tools (CODEMODE_SHARED, default ../shared). Compares with json-schema-to-typescript where
 * that is installed in bench/peers (CODEMODE_PEERS names another folder); it is no dependency of ours.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const corpus = join(process.env.CODEMODE_SHARED ?? join(root, '../shared'), 'corpus/toolsets');
const peers = process.env.CODEMODE_PEERS ?? join(root, 'bench/peers');
const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 7;

if (!existsSync(corpus)) {
  console.error(`no corpus at ${corpus}: set CODEMODE_SHARED to the folder that has corpus/toolsets`);
  process.exit(2);
}

const servers = readdirSync(corpus)
  .filter((file) => file.endsWith('.json') && file !== 'index.json')
  .map((file) => {
    const { server, tools } = JSON.parse(readFileSync(join(corpus, file), 'utf8'));
    const path = file.slice(0, -'.json'.length);
    return { path, serverId: path, serverName: server, tools };
  });
const toolCount = servers.reduce((sum, { tools }) => sum + tools.length, 0);

const { declareModule, SHARED_DECLARATIONS } = await loadSource('src/catalog/declarations/typescript.ts');
const declareAll = (detail) => servers.map((server) => declareModule(server, { detail }).text);

console.log(`${toolCount} tools of ${servers.length} servers, Node ${process.version}`);
for (const detail of ['full', 'compact', 'signatures']) {
  const ms = await medianMs(rounds, () => declareAll(detail));
  console.log(
    `${detail.padEnd(10)} ${ms.toFixed(0).padStart(6)} ms, ${((ms * 1000) / toolCount).toFixed(0)} µs per tool`,
  );
}
await comparePeer();
await countTokens();

async function comparePeer() {
  if (!existsSync(join(peers, 'node_modules/json-schema-to-typescript'))) {
    console.log('json-schema-to-typescript is not in bench/peers: no comparison');
    return;
  }
  const { compile } = createRequire(join(peers, 'package.json'))('json-schema-to-typescript');
  // Its fastest settings: no formatting, nothing read from elsewhere.
  const options = { bannerComment: '', format: false, $refOptions: { resolve: { http: false, file: false } } };
  const schemas = servers
    .flatMap(({ tools }) => tools.flatMap((tool) => [tool.inputSchema, tool.outputSchema]))
    .filter(Boolean);
  let failures = 0;
  const peerMs = await medianMs(2, async () => {
    failures = 0;
    for (const schema of schemas) {
      try {
        // It changes what it is given.
        await compile(structuredClone(schema), 'Type', options);
      } catch {
        failures += 1;
      }
    }
  });
  const ownMs = await medianMs(rounds, () => declareAll('full'));
  console.log(
    `json-schema-to-typescript ${peerMs.toFixed(0)} ms (${failures} schemas failed), ours ${ownMs.toFixed(0)} ms: ${(peerMs / ownMs).toFixed(1)} times faster`,
  );
}

async function countTokens() {
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base');
  const json = servers.map(({ tools }) =>
    count(JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))),
  );
  const sum = (list) => list.reduce((total, one) => total + one, 0);
  console.log(`tokens (o200k): tools as JSON ${sum(json)}; shared types ${count(SHARED_DECLARATIONS)}`);
  for (const detail of ['full', 'compact', 'signatures']) {
    const tokens = declareAll(detail).map((text) => count(text));
    const total = sum(tokens);
    console.log(
      `  ${detail.padEnd(10)} ${total} (${((100 * total) / sum(json)).toFixed(0)} % of the JSON), ${(total / toolCount).toFixed(0)} per tool`,
    );
  }
}

async function medianMs(times, work) {
  await work();
  const all = [];
  for (let round = 0; round < times; round += 1) {
    const start = performance.now();
    await work();
    all.push(performance.now() - start);
  }
  return all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
}

async function loadSource(file) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  try {
    const outfile = join(folder, 'bundle.mjs');
    await build({
      entryPoints: [join(root, file)],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
      logLevel: 'error',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
