import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { apart, NO_SPARES, WHOLE_ANSWERS } from './codemode-client.js';
import { SHARED_GO } from './go.js';
import { fixture, isAlive, packageProgram } from './upstreams.js';

/*
 * The built program as its users have it: started as its own process, with a configuration file and a state folder,
 * and spoken to by the official client.
 */

export const PROGRAM = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export type Era = 'legacy' | 'modern';
export type ClientOptions = NonNullable<ConstructorParameters<typeof Client>[1]>;

/** For tests of what a model reads: everything as it is shipped. */
export const AS_SHIPPED = { response: undefined, prompt: undefined };

/** A configuration file and a state folder of their own. */
export function openHome(config: object) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-e2e-'));
  const state = join(folder, 'state');
  const work = join(folder, 'work');
  for (const each of [state, work]) mkdirSync(each);
  const configFile = join(folder, 'codemode.config.json');
  writeFileSync(configFile, JSON.stringify({ ...NO_SPARES, ...SHARED_GO, ...WHOLE_ANSWERS, ...config }));
  return {
    state,
    work,
    configFile,
    // A file, so that the tests of a person with a desktop leave nothing in his keyring.
    environment: { PATH: process.env.PATH ?? '', CODEMODE_HOME: state, CODEMODE_KEYRING: 'file' },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export type Home = ReturnType<typeof openHome>;

/** A server of the fixtures, as a configuration has it. */
export function everyday(...scriptArguments: string[]) {
  return { command: process.execPath, args: [fixture('everyday-server.mjs'), ...scriptArguments] };
}

export function nodeServer(script: string, ...scriptArguments: string[]) {
  return { command: process.execPath, args: [script, ...scriptArguments] };
}

export function packageServer(name: string, ...scriptArguments: string[]) {
  return nodeServer(packageProgram(name), ...scriptArguments);
}

function newClient(era: Era, options: ClientOptions = {}): Client {
  const mode = era === 'modern' ? ({ pin: '2026-07-28' } as const) : 'legacy';
  return new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode }, ...options });
}

/** `codemode mcp`, connected. */
export async function openStdio(home: Home, era: Era = 'legacy', options: ClientOptions = {}, words: string[] = []) {
  const client = newClient(era, options);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, '--config', home.configFile, 'mcp', ...words],
    env: home.environment,
    cwd: home.work,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  await client.connect(transport);
  const pid = transport.pid as number;
  return { client, pid, stderr: () => stderr, [Symbol.asyncDispose]: () => client.close() };
}

/** The program with other words, for who speaks to it by hand. */
export function startProgram(home: Home, ...words: string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, '--config', home.configFile, ...words], {
    env: home.environment,
    cwd: home.work,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** What a command prints, and its exit status. */
export async function runProgram(home: Home, ...words: string[]) {
  const child = startProgram(home, ...words);
  child.stdin?.end();
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
  const [status] = (await once(child, 'exit')) as [number];
  return { stdout: await stdout, stderr: await stderr, status };
}

/** `codemode serve` on a free port, ready for requests. */
export async function startServe(home: Home, ...words: string[]) {
  const child = startProgram(home, 'serve', '--port', '0', ...words);
  let stderr = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      const found = /listening on (http:[^\s"]+)/.exec(stderr)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`it ended: ${stderr}`)));
  });
  const token = readFileSync(join(home.state, 'token'), 'utf8').trim();
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  return {
    url,
    token,
    pid: child.pid as number,
    stderr: () => stderr,
    exited,
    stop,
    /** A client of its own, with the token of `codemode token` or another. */
    connect: async (era: Era = 'legacy', options: ClientOptions = {}, bearer = token) => {
      const client = newClient(era, options);
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${bearer}` } },
      });
      await client.connect(transport);
      return { client, transport, [Symbol.asyncDispose]: () => client.close() };
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await stop('SIGKILL');
    },
  };
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}

/** A response of the contract, as the agent sees it. */
export interface Response {
  readonly logs: { level: string; message: string; timeMs: number }[];
  readonly result: unknown;
  readonly diagnostics: { severity: string; code: string; message: string; hint?: string; errorClass?: string }[];
  readonly toolTrace: { serverId: string; toolName: string; durationMs: number; ok: boolean; error?: string }[];
  readonly runId?: string;
}

export type CallOptions = Parameters<Client['callTool']>[1];

export async function call(
  client: Client,
  request: Record<string, unknown>,
  options?: CallOptions,
): Promise<CallToolResult> {
  return (await client.callTool({ name: 'codemode_run', arguments: request }, options)) as CallToolResult;
}

/** Runs a program and gives its response. */
export async function run(client: Client, code: string, more: object = {}, options?: CallOptions) {
  return apart((await call(client, { code, ...more }, options)).structuredContent as unknown as Response);
}

/** Waits until programs can import these servers: on a busy machine one may take longer to start than a run waits. */
export async function ready(client: Client, ...paths: string[]): Promise<void> {
  const code = `import { listTools } from '@codemode/discovery';
    const counts = await Promise.all(${JSON.stringify(paths)}.map(async (path) => (await listTools(path)).length));
    globalThis.__codemode_result__ = counts.every((count) => count > 0);`;
  await until(async () => (await run(client, code, { requestedCapabilities: paths })).result === true);
}

/**
 * Waits until something is so. The condition is asked again and again, less and less often, because it may be a whole run: only for
 * what no event tells.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauseMs = 20; !(await condition()); pauseMs = Math.min(pauseMs * 1.5, 300))
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
}

/** Every process below this one, as far as `/proc` knows: `--die-with-parent` and pipes are to end them all. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      const parent = Number(fields[1]);
      parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
    } catch {
      // It ended while we looked.
    }
  }
  const below = (each: number): number[] => (parents.get(each) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

export async function ended(pids: readonly number[]): Promise<void> {
  await until(() => !pids.some(isAlive));
}
