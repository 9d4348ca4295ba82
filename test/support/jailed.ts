import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IsolationLevel } from '../../src/domain/isolation.js';
import type { Jail, JailedProgram, JailLimits, Spawn } from '../../src/sandbox/jail/jail.js';
import { launch } from '../../src/sandbox/jail/launch.js';
import { openJail } from '../../src/sandbox/jail/probe.js';

export const ROOMY: JailLimits = { dataBytes: 512 * 1024 * 1024, cpuSeconds: 20, processes: 32, fileBytes: 0 };

export interface JailedRun {
  readonly answer: Buffer;
  readonly stderr: string;
  /** As a shell would say it: 128 and the number of the signal that ended the worker. */
  readonly code: number;
}

/** The jail of one level, or the reason why this machine has none, for `test.skipIf`. */
export async function jailOrReason(level: IsolationLevel): Promise<{ jail?: Jail; reason: string }> {
  try {
    return { jail: await openJail({ isolation: level }), reason: '' };
  } catch (error) {
    // A jail with a hole is a fault of ours, not a property of the machine.
    if ((error as Error).message.includes('does not hold')) throw error;
    return { reason: ` (skipped: ${(error as Error).message.split('\n')[0] ?? ''})` };
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
