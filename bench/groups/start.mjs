// @ts-check
// The built program as a person or a client starts it: nothing is running, nothing is warm but the file cache.
import { spawn } from 'node:child_process';
import { mustBe } from '../product.mjs';
import { EVERYDAY, listFromCold, openHome, PROGRAM } from '../program.mjs';
import { collect, scaled, summarize, timeEach } from '../stats.mjs';

/** From the list of tools to the first answer: the jail, a worker, and the parts of the host that a list does not need. */
const MAX_FIRST_RUN_MS = 150;

export async function measure({ quick }) {
  const count = scaled(20, quick);
  const home = openHome({ mcpServers: { everyday: EVERYDAY, another: EVERYDAY, third: EVERYDAY } });
  // With the environment of the others: certificates that a variable names take an empty Node 40 ms to read.
  const empty = await timeEach(count, () => output([process.execPath, ['-e', '0']], '', home.env));
  const command = (...words) =>
    output([process.execPath, [PROGRAM, '--config', home.configFile, ...words]], '', home.env);
  const withRatio = (row) => ({ ...row, note: `${(row.p50 / empty.p50).toFixed(1)} times an empty node process` });
  try {
    await command('servers');
    const rows = [{ name: 'an empty node process', unit: 'ms', p50: empty.p50, p95: empty.p95 }];
    for (const [name, start] of Object.entries({
      'codemode --version': () => command('--version'),
      'codemode approvals': () => command('approvals'),
      'codemode run, from a cold process to its end': run,
    })) {
      // The first one keeps the code that the others take.
      await start();
      const { p50, p95 } = await timeEach(count, start);
      rows.push(withRatio({ name, unit: 'ms', p50, p95 }));
    }
    return [...rows, ...(await clientRows(home, count, Math.round(1.5 * empty.p50 + 100))).map(withRatio)];
  } finally {
    home.close();
  }
}

/** What a client waits for before its user can type. */
async function clientRows(home, count, goal) {
  const code = 'globalThis.__codemode_result__ = 40 + 2;';
  await listFromCold(home, code);
  /** @type {number[]} */
  const runs = [];
  const listed = await collect(count, async () => {
    const { ms, runMs, tools, result } = await listFromCold(home, code);
    mustBe(tools[0].description.includes('third'), true);
    mustBe(result, 42);
    runs.push(runMs);
    return ms;
  });
  const ran = summarize(runs);
  const name = 'codemode mcp, cold, to';
  return [
    {
      name: `${name} tools/list answered from disk`,
      unit: 'ms',
      p50: listed.p50,
      p95: listed.p95,
      goal: { p50: goal },
    },
    {
      ...{ name: `${name} its first run answered`, unit: 'ms', p50: ran.p50, p95: ran.p95 },
      goal: { p50: Math.round(listed.p50 + MAX_FIRST_RUN_MS) },
    },
  ];
}

async function run() {
  const text = await output([process.execPath, [PROGRAM, 'run', '-']], 'globalThis.__codemode_result__ = 40 + 2;');
  mustBe(JSON.parse(text).result, 42);
}

/** @param {[string, string[]]} command @param {string} input @param {NodeJS.ProcessEnv} env */
function output([file, args], input, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => (status === 0 ? resolve(text) : reject(new Error(`${file} ended with ${status}`))));
    child.stdin.end(input);
  });
}
