import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestOptions } from 'vitest';
import type { IsolationLevel } from '../../src/domain/isolation.js';
import type { Jail, JailedProgram, JailLimits, Spawn } from '../../src/sandbox/jail/jail.js';
import { launch } from '../../src/sandbox/jail/launch.js';
import { openJail } from '../../src/sandbox/jail/probe.js';
import { type Requirement, skipped } from './needs.js';

export const ROOMY: JailLimits = { dataBytes: 512 * 1024 * 1024, cpuSeconds: 20, processes: 32, fileBytes: 0 };

export interface JailedRun {
  readonly answer: Buffer;
  readonly stderr: string;
  /** As a shell would say it: 128 and the number of the signal that ended the worker. */
  readonly code: number;
}

export interface JailForTests {
  /** Missing where this machine has no jail of that level. */
  readonly jail?: Jail;
  /** For a test or a group that needs the jail: skipped, with the reason, where it is missing. */
  readonly options: TestOptions;
}

/** The jail of one level, and options for the tests that need it and whatever else they name. */
export async function jailForTests(level: IsolationLevel, ...also: readonly Requirement[]): Promise<JailForTests> {
  const unmet = also.find(({ isMet }) => !isMet);
  if (unmet !== undefined) return { options: skipped(unmet.reason) };
  try {
    return { jail: await openJail({ isolation: level }), options: {} };
  } catch (error) {
    // A jail with a hole is a fault of ours, not a property of the machine.
    if ((error as Error).message.includes('does not hold')) throw error;
    return { options: skipped(`no jail of level ${level}: ${(error as Error).message.split('\n')[0] ?? ''}`) };
  }
}

export function nodeProgram(code: string, changes: Partial<JailedProgram> = {}): JailedProgram {
  return {
    runtime: 'escape',
    interpreterPath: process.execPath,
    interpreterArguments: ['-e', code],
    files: [],
    limits: ROOMY,
    ...changes,
  };
}

/** Starts it, sends `input` on the channel, and waits for its end. */
export function runJailed(spawn: Spawn, input = ''): Promise<JailedRun> {
  return new Promise((resolve, reject) => {
    const { child, channel } = launch(spawn, 'pipe');
    const answer: Buffer[] = [];
    let stderr = '';
    channel.on('data', (bytes: Buffer) => answer.push(bytes));
    channel.on('error', () => {});
    if (input !== '') channel.write(input);
    child.stderr?.on('data', (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const ended = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      resolve({ answer: Buffer.concat(answer), stderr, code: ended });
    });
  });
}

/** A folder that every uid may read, gone at the end of the block. */
export function openFolder(): Disposable & { write(name: string, content: string | Uint8Array): string } {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-jail-'));
  chmodSync(folder, 0o755);
  return {
    write(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content, { mode: 0o755 });
      return path;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
