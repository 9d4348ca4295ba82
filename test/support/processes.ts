import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** What the kernel says about processes, for tests of what is left behind. */

interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  /** Ended, and waiting for its parent to notice: it holds nothing and does nothing. */
  readonly isZombie: boolean;
}

/** Every process below this one, at any depth, however many jails lie between. */
export function descendantsOf(root: number): number[] {
  const all = readProcesses();
  const found: number[] = [];
  for (let parents = [root]; parents.length > 0; ) {
    const children = all.filter(({ parent, isZombie }) => parents.includes(parent) && !isZombie);
    parents = children.map(({ pid }) => pid);
    found.push(...parents);
  }
  return found;
}

export function isAlive(pid: number): boolean {
  const state = readProcess(pid);
  return state !== undefined && !state.isZombie;
}

/** The command line of a process, as one text; empty for one that is gone. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Waits until all of them are gone: the kernel ends them after their parent, not with it. */
export async function expectGone(pids: readonly number[]): Promise<void> {
  await expect
    .poll(() => pids.filter(isAlive).map((pid) => `${pid} ${commandOf(pid)}`), { timeout: 10_000 })
    .toEqual([]);
}

function readProcesses(): ProcessState[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
}

function readProcess(pid: number): ProcessState | undefined {
  try {
    // `pid (name) state parent ...`; a name may hold spaces and parentheses.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, parent: Number(parent), isZombie: state === 'Z' || state === 'X' };
  } catch {
    return undefined; // ended while we looked
  }
}
