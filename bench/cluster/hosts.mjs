// @ts-check
// `codemode serve` processes that share a database, or one with a state folder of its own.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';

const PROGRAM = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const LEDGER = fileURLToPath(new URL('../../test/fixtures/ledger-server.mjs', import.meta.url));
const TOKENS = { agent: 'bench-agent', person: 'bench-person' };
const listed = (name, scopes) => ({ name, sha256: createHash('sha256').update(name).digest('hex'), scopes });
/** Quotas are raised: they are not what is measured. */
const QUOTAS = { approvals: 100_000, suspended: '20GB', runs: 10_000, history: 1_000_000 };

/** @param {string | undefined} store an address; without one each host has a state folder of its own */
export function openHosts(store) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-cluster-'));
  const config = join(folder, 'codemode.config.json');
  writeFileSync(
    config,
    JSON.stringify({
      profile: 'unified',
      approvals: { grace: '10ms' },
      quotas: QUOTAS,
      mcpServers: { ledger: { command: process.execPath, args: [LEDGER, join(folder, 'ledger.txt')] } },
      security: {
        auth: { tokens: [listed(TOKENS.agent, ['execute', 'tools']), listed(TOKENS.person, ['approve'])] },
        capabilities: { mcp: { maxCallsPerSecond: 1e6, maxConcurrentCalls: 1_000 } },
      },
    }),
  );
  const key = randomBytes(32).toString('base64');
  const children = new Set();
  // A figure that breaks leaves nothing running.
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL');
  });
  let count = 0;
  return {
    async start() {
      const home = join(folder, `state-${++count}`);
      mkdirSync(home, { mode: 0o700 });
      const env = {
        ...{ PATH: process.env.PATH ?? '', CODEMODE_HOME: home, CODEMODE_KEYRING: 'file' },
        ...(store === undefined ? {} : { CODEMODE_STORE: store, CODEMODE_KEY: key }),
      };
      const args = [PROGRAM, '--config', config, 'serve', '--port', '0'];
      const child = spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      children.add(child);
      return hostOf(child, await listening(child));
    },
    async close() {
      for (const child of children) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @typedef {ReturnType<typeof hostOf>} BenchHost */

function hostOf(child, url) {
  const pool = new Pool(url, { connections: 64, pipelining: 1 });
  const ask = async (method, path, token, body) => {
    const {
      statusCode,
      headers,
      body: stream,
    } = await pool.request({
      ...{ method, path: `/api/v1${path}` },
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return {
      status: statusCode,
      location: String(headers.location ?? ''),
      body: /** @type {any} */ (await stream.json()),
    };
  };
  return {
    execute: (code) => ask('POST', '/execute', TOKENS.agent, { code, capabilities: ['mcp:ledger'] }),
    approve: (id) => ask('POST', `/approvals/${id}/approve`, TOKENS.person, {}),
    result: (runId) => ask('GET', `/runs/${runId}/result`, TOKENS.agent),
    list: () => ask('GET', '/runs', TOKENS.agent),
    /** A run that waits for a person: its id and that of the question. */
    async suspend(text) {
      const { status, body } = await ask('POST', '/execute', TOKENS.agent, {
        code: `return (await mcp.ledger.write({ text: ${JSON.stringify(text)} })).did`,
        capabilities: ['mcp:ledger'],
      });
      if (status !== 202) throw new Error(`not suspended: ${JSON.stringify(body)}`);
      const { runId, approvals } = body.error.details;
      return { runId, approvalId: approvals[0].id };
    },
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      await pool.close();
    },
  };
}

async function listening(child) {
  let log = '';
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      log += chunk;
      const found = /listening on (http:[^\s"]+)/.exec(log)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`a host ended: ${log}`)));
  });
}
