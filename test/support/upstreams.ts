import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { UpstreamTarget } from '../../src/domain/targets/targets.js';
import type { UpstreamDefinition, UpstreamHealth, UpstreamOutcome } from '../../src/domain/upstream.js';
import type { Adapter } from '../../src/upstream/adapter.js';
import { type RegistryOptions, UpstreamRegistry } from '../../src/upstream/registry.js';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/** The program of an npm package that is an MCP server. */
export function packageProgram(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
}

export function definition(
  id: string,
  target: UpstreamTarget,
  more: Partial<UpstreamDefinition> = {},
): UpstreamDefinition {
  const patience = { connectTimeoutMs: 20_000, callTimeoutMs: 20_000 };
  return { id, target, labels: [], isTrusted: false, retry: { maxAttempts: 1, delayMs: 0 }, ...patience, ...more };
}

export function stdio(
  script: string,
  scriptArguments: readonly string[] = [],
  environment: Record<string, string> = {},
): UpstreamTarget {
  return { kind: 'stdio', command: process.execPath, arguments: [script, ...scriptArguments], environment };
}

/** A registry that ends all its servers when the test is over. */
export function createRegistry(options: Partial<RegistryOptions> = {}): UpstreamRegistry & AsyncDisposable {
  const registry = new UpstreamRegistry({
    clientInfo: { name: 'codemode-test', version: '0' },
    baseEnvironment: { PATH: process.env.PATH ?? '' },
    ...options,
  });
  return Object.assign(registry, { [Symbol.asyncDispose]: () => registry.close() });
}

/** Starts `http-server.mjs` and waits until it listens. */
export async function startHttpServer(mode: 'stateless' | 'sessions' | 'sse' | 'websocket', port = 0) {
  const child: ChildProcess = spawn(process.execPath, [fixture('http-server.mjs'), mode, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const listening = JSON.parse(line.toString()) as { port: number };
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { port: listening.port, stop, [Symbol.asyncDispose]: stop };
}

/** Waits until an upstream is in a state. */
export async function stateOf(adapter: Adapter, state: UpstreamHealth['state']): Promise<UpstreamHealth> {
  if (adapter.health().state === state) return adapter.health();
  return new Promise((resolve) => {
    const stop = adapter.onEvent((event) => {
      if (event.type !== 'state' || event.health.state !== state) return;
      stop();
      resolve(event.health);
    });
  });
}

/** Waits for the next news that tools have changed. */
export async function changeOf(adapter: Adapter): Promise<void> {
  return new Promise((resolve) => {
    const stop = adapter.onEvent((event) => {
      if (event.type !== 'changed') return;
      stop();
      resolve();
    });
  });
}

/** The text of an answer, or the failure. */
export function textOf(outcome: UpstreamOutcome): unknown {
  if (outcome.status === 'failed') return outcome.failure;
  const [block] = outcome.reply.content;
  return block?.text;
}

/** Whether a process runs. One that has ended and was not collected by its parent yet does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (!existsSync('/proc/self/stat')) return true;
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
