// @ts-check
// The built program as a person or a client starts it: nothing is running, nothing is warm but the file cache.
import { spawn } from 'node:child_process';
import { mustBe } from '../product.mjs';
import { EVERYDAY, listFromCold, openHome, PROGRAM } from '../program.mjs';
import { collect, scaled, timeEach } from '../stats.mjs';

export async function measure({ quick }) {
  await run();
  const bare = await timeEach(scaled(20, quick), () => output([process.execPath, ['-e', '0']], ''));
  const note = `an empty node process takes ${bare.p50.toFixed(0)} ms here`;
  const { p50, p95 } = await timeEach(scaled(20, quick), run);
  return [
    { name: 'codemode run, from a cold process to its end', unit: 'ms', p50, p95, note },
    { ...(await listRow(quick)), note },
  ];
}

/** What a client waits for before its user can type. */
async function listRow(quick) {
  const home = openHome({ mcpServers: { everyday: EVERYDAY, another: EVERYDAY, third: EVERYDAY } });
  try {
    await output([process.execPath, [PROGRAM, '--config', home.configFile, 'servers']], '', home.env);
    await listFromCold(home);
    const { p50, p95 } = await collect(scaled(20, quick), async () => {
      const { ms, tools } = await listFromCold(home);
      mustBe(tools[0].description.includes('third'), true);
      return ms;
    });
    return { name: 'codemode mcp, cold, to tools/list answered from disk', unit: 'ms', p50, p95, goal: { p50: 300 } };
  } finally {
    home.close();
  }
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
