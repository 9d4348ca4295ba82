import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { namedConfig } from './cli.js';

/** The built program as its own process, the way a user starts it. */
export const PROGRAM = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A folder to run in, gone at the end of the block. Nothing of the machine's own configuration is seen from it. */
export function openWorkFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'codemode-run-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export function startCommand(args: readonly string[], { cwd, environment = {} }: CommandOptions): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...namedConfig(cwd), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Runs `codemode ...args` to its end. */
export async function command(args: readonly string[], options: CommandOptions): Promise<Ended> {
  const child = startCommand(args, options);
  // A program that does not read its input to the end closes it: that is its right.
  child.stdin?.on('error', () => {});
  child.stdin?.end(options.input ?? '');
  return endOf(child);
}

export function endOf(child: ChildProcess): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...output }));
  });
}
