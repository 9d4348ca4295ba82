// @ts-check
// `codemode serve` as its own process, on a free port of loopback, with as many callers as wanted.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Pool } from 'undici';
import { descriptorCount, processorMs, processTree, proportionalBytes, residentBytes } from '../machine.mjs';
import { EVERYDAY, openHome, PROGRAM } from '../program.mjs';
import { openInspector } from './inspector.mjs';
import { openEmptyLane, openLane } from './lane.mjs';

export const MEGABYTE = 1024 * 1024;
/** A program without calls, and one that has the answer of a real server. */
export const SIMPLE = { code: 'return 40 + 2', answer: 42 };
export const WITH_CALL = { code: 'return (await mcp.everyday.add({ a: 40, b: 2 })).sum', answer: 42 };
/** As in the document's own configuration file. */
export const WORKERS = { min: 2, max: 10 };

/** The contract's own five a second would be what is measured. */
const MANY_CALLS_AT_ONCE = { maxCallsPerSecond: 1e6, maxConcurrentCalls: 1_000 };
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 40_000;

/**
 * @param {{ callers?: number, people?: object[], workers?: object, config?: object, nodeArguments?: string[], program?: string }} [options]
 *   `people`: tokens beside those of the callers, as the configuration lists them
 */
export async function startServe({
  callers = 1,
  people = [],
  workers = WORKERS,
  config = {},
  nodeArguments = [],
  program = PROGRAM,
} = {}) {
  const tokens = Array.from({ length: callers }, (_, index) => `bench-token-of-caller-${index}`);
  const listed = tokens.map((token, index) => ({
    name: `caller ${index}`,
    sha256: createHash('sha256').update(token).digest('hex'),
    scopes: ['execute', 'tools'],
  }));
  const home = openHome({
    mcpServers: { everyday: EVERYDAY },
    ...config,
    sandbox: { workers },
    security: { auth: { tokens: [...listed, ...people] }, capabilities: { mcp: MANY_CALLS_AT_ONCE } },
  });
  const args = [
    ...['--inspect=127.0.0.1:0', ...nodeArguments, program, '--config', home.configFile],
    ...['serve', '--port', '0', '--host', '127.0.0.1'],
  ];
  const child = spawn(process.execPath, args, { env: home.env, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  // A group that breaks leaves nothing running.
  process.once('exit', () => child.kill('SIGKILL'));
  const { url, inspectorUrl } = await listening(child);
  const inspector = await openInspector(inspectorUrl);
  const pid = /** @type {number} */ (child.pid);
  const clients = new Set();
  const kept = (client) => {
    clients.add(client);
    return client;
  };
  return {
    url,
    pid,
    tokens,
    stateFolder: home.env.CODEMODE_HOME,
    temporaryFolder: home.env.TMPDIR,
    inspector,
    /** Settled when the process has ended, for whatever reason. */
    exited,
    /** Connections that are kept, as a client keeps them. */
    openClient: (connections) => kept(openClient(url, connections)),
    openLane: async (token, program, options) => kept(await openLane(url, token, program, options)),
    openEmptyLane: async (token) => kept(await openEmptyLane(url, token)),
    measure: () => measureOf(pid),
    /** @param {() => void} [look] at what is left, before its folders are removed */
    async close(look = () => {}) {
      for (const client of clients) await client.close();
      inspector.close();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      child.kill('SIGTERM');
      await exited;
      clearTimeout(timer);
      look();
      home.close();
    },
  };
}

/** @param {string} url @param {number} connections */
function openClient(url, connections) {
  const pool = new Pool(url, {
    connections,
    pipelining: 1,
    connectTimeout: 120_000,
    headersTimeout: 120_000,
    bodyTimeout: 120_000,
  });
  const execute = async (token, code, more = {}) => {
    const { statusCode, body } = await pool.request({
      path: '/api/v1/execute',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ code, capabilities: ['mcp:everyday'], ...more }),
    });
    return { status: statusCode, answer: /** @type {any} */ (await body.json()) };
  };
  return {
    execute,
    /** @param {string} token @param {{ code: string, answer: unknown }} program */
    run: async (token, { code, answer }) => {
      const { status, answer: got } = await execute(token, code);
      if (status !== 200 || got.result !== answer)
        throw new Error(`a run was answered with ${status} ${JSON.stringify(got)}`);
    },
    get: async (path, token) => {
      const { statusCode, body } = await pool.request({
        path,
        method: 'GET',
        headers: { authorization: `Bearer ${token}` },
      });
      return { status: statusCode, text: await body.text() };
    },
    close: () => pool.destroy(),
  };
}

/** What the host and everything below it hold, and the CPU time the host has had: workers come and go. @param {number} pid */
function measureOf(pid) {
  const tree = processTree(pid);
  return {
    processes: tree.length,
    hostBytes: residentBytes([pid]),
    treeBytes: proportionalBytes(tree),
    descriptors: descriptorCount(pid),
    hostProcessorMs: processorMs([pid]),
  };
}

/** @returns {Promise<{ url: string, inspectorUrl: string }>} */
function listening(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
    child.stderr.on('data', (chunk) => {
      if (text.length < 100_000) text += chunk;
      const inspectorUrl = /listening on (ws:\S+)/.exec(text)?.[1];
      const url = /listening on (http:\S+)/.exec(text)?.[1];
      if (url === undefined || inspectorUrl === undefined) return;
      clearTimeout(timer);
      resolve({ url, inspectorUrl });
    });
    child.once('exit', () => reject(new Error(`codemode serve ended: ${text.slice(-2_000)}`)));
  });
}
