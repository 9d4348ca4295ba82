// @ts-check
// The built program as a client starts it: with a configuration and a state folder of its own.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ROOT } from '../scripts/repository.mjs';

export const PROGRAM = join(ROOT, 'dist', 'bin.js');
/** A small server with ordinary tools. */
export const EVERYDAY = { command: process.execPath, args: [join(ROOT, 'test/fixtures/everyday-server.mjs')] };

/** @param {object} config */
export function openHome(config) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-home-'));
  const configFile = join(folder, 'codemode.config.json');
  for (const name of ['state', 'tmp']) mkdirSync(join(folder, name));
  writeFileSync(configFile, JSON.stringify(config));
  const args = [PROGRAM, '--config', configFile, 'mcp'];
  const env = {
    PATH: process.env.PATH ?? '',
    CODEMODE_HOME: join(folder, 'state'),
    CODEMODE_KEYRING: 'file',
    // Its own: what it leaves there can be counted.
    TMPDIR: join(folder, 'tmp'),
  };
  return { args, env, configFile, close: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The official client, connected to a program. @param {{ command: string, args: string[], env?: Record<string, string> }} program */
export async function connect(program) {
  const client = new Client({ name: 'bench', version: '0' });
  await client.connect(new StdioClientTransport({ ...program, stderr: 'ignore' }));
  return client;
}

/**
 * Starts `codemode mcp` and asks for its tools, as a client does, then for the result of a program, if there is one. Ends it,
 * and waits for its end, before it returns.
 *
 * @param {ReturnType<typeof openHome>} home
 * @param {string} [code]
 * @returns {Promise<{ ms: number, runMs: number, tools: any[], result: unknown }>} from the start of the process to the answers
 */
export async function listFromCold({ args, env }, code) {
  const start = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const clientInfo = { name: 'bench', version: '0' };
  let listed = { ms: 0, tools: [] };
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line);
    if (id === 1) {
      say({ method: 'notifications/initialized' });
      say({ id: 2, method: 'tools/list' });
    }
    if (id === 2) listed = { ms: performance.now() - start, tools: result.tools };
    if (id === 2 && code !== undefined)
      say({ id: 3, method: 'tools/call', params: { name: 'codemode_run', arguments: { code } } });
    else if (id === 2 || id === 3) {
      const runMs = performance.now() - start;
      child.stdin.end();
      await ended;
      return { ...listed, runMs, result: result.structuredContent?.result };
    }
  }
  throw new Error('codemode mcp ended without an answer');
}
