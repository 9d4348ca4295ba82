import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callScript, responseOf } from '../../support/code-execution.js';
import { nodeServer, openHome, openStdio } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

const SCRIPTS = 50;
const PLACES = 5;
const SOON = { timeout: 60_000, interval: 50 };

test('as many scripts run as there are workers; others queue without spending their time [D6]', {
  timeout: 120_000,
}, async () => {
  using home = openHome({});
  const [log, gate] = [join(home.work, 'log'), join(home.work, 'gate')];
  const crowd = nodeServer(fixture('crowd-server.mjs'), log, gate);
  writeFileSync(
    home.configFile,
    JSON.stringify({ codeExecution: { poolSize: PLACES }, mcpServers: { crowd }, sandbox: { workers: { min: 1 } } }),
  );
  await using session = await openStdio(home, 'legacy', {}, ['--profile', 'code_execution']);
  const entries = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []);
  const code = `call_tool('crowd', 'stay', {}).result`;
  const runs = Array.from({ length: SCRIPTS }, async () => responseOf(await callScript(session.client, { code })));
  await expect.poll(() => entries().length, SOON).toBe(PLACES);
  expect((await session.client.listTools()).tools.map(({ name }) => name)).toEqual(['code_execution']);
  // It waits longer for its place than it may take, and ends all the same.
  const brief = callScript(session.client, { code: '"brief"', options: { timeout_ms: 1_500 } });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(entries()).toEqual(Array(PLACES).fill('+'));
  writeFileSync(gate, '');
  expect(await Promise.all(runs)).toEqual(Array(SCRIPTS).fill({ ok: true, value: 'stayed' }));
  expect(responseOf(await brief)).toEqual({ ok: true, value: 'brief' });
  let inside = 0;
  const crowds = entries().map((entry) => (entry === '+' ? ++inside : --inside));
  expect([entries().length, Math.max(...crowds)]).toEqual([2 * SCRIPTS, PLACES]);
});

test('a pool of one runs scripts one after the other [D9]', async () => {
  using home = openHome({});
  const [log, gate] = [join(home.work, 'log'), join(home.work, 'gate')];
  const mcpServers = { crowd: nodeServer(fixture('crowd-server.mjs'), log, gate) };
  writeFileSync(gate, '');
  writeFileSync(home.configFile, JSON.stringify({ codeExecution: { poolSize: 1 }, mcpServers }));
  await using session = await openStdio(home, 'legacy', {}, ['--profile', 'code_execution']);
  const code = `call_tool('crowd', 'stay', {}).result`;
  await Promise.all(Array.from({ length: 5 }, () => callScript(session.client, { code })));
  expect(readFileSync(log, 'utf8').split('\n').slice(0, -1)).toEqual(Array(5).fill(['+', '-']).flat());
});
