// Measures how much of a corpus of real tools the default policy asks about, and why: which share, and by which reason.
// Over the repository's own corpus, or the one in the folder that CODEMODE_SHARED names.
// With --list it prints every tool that is asked about and is not claimed to be destructive by its own server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from '../scripts/repository.mjs';
import { CORPUS_NAME, readToolsets } from './corpus.mjs';

const MOST_ASKED = 0.3;

const { Policy } = await load('src/broker/policy/policy.ts');
const policy = new Policy({ settings: { preset: 'default', rules: [] }, servers: new Map() });
const tools = readToolsets().flatMap(({ id, tools }) => tools.map((tool) => ({ ...tool, serverId: id })));
const judged = tools.map((tool) => ({
  tool,
  ...policy.decide({ tool, serverPath: tool.serverId, caller: 'bench', profile: 'codemode', arguments: {} }),
}));
const asking = judged.filter(({ decision }) => decision === 'ask');
const by = (pattern) => asking.filter(({ reason }) => pattern.test(reason));
const percent = (count) => `${((100 * count) / tools.length).toFixed(1)} %`;

console.log(`tools                     ${tools.length} (${CORPUS_NAME})`);
console.log(
  `asks                      ${asking.length} (${percent(asking.length)}; at most ${percent(MOST_ASKED * tools.length)})`,
);
console.log(`  its server says so      ${by(/^its server says/).length}`);
console.log(`  its name says so        ${by(/^its name/).length}`);
console.log(`  its description says so ${by(/^its description/).length}`);
const readers = asking.filter(({ tool }) => tool.annotations?.readOnlyHint === true);
console.log(`  claims to only read     ${readers.length}`);

if (process.argv.includes('--list'))
  for (const { tool, reason } of asking.filter(({ reason }) => !/^its server says/.test(reason)))
    console.log(`${tool.serverId}/${tool.name}  ${reason}`);

if (asking.length > MOST_ASKED * tools.length) process.exitCode = 1;

async function load(source) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  try {
    const outfile = join(folder, 'module.mjs');
    const options = { bundle: true, format: 'esm', platform: 'node', logLevel: 'error' };
    await build({ ...options, entryPoints: [join(ROOT, source)], outfile });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
