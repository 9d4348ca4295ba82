import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { WORKSPACE } from '../jail/jail.js';

/** What the processes below one process hold at this moment, as the kernel tells it to everybody. */
export interface Usage {
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

/** Far more than a jail may have; a tree that grows while it is read ends here. */
const MAX_PROCESSES_READ = 1_000;
const KIB = 1024;
/** USER_HZ, which the kernel has fixed for everything it says in ticks. */
const MS_PER_TICK = 10;

/**
 * Reads small files of /proc: some 40 µs for each process. What forks share counts for each of them there; where the sum
 * is above `exactAboveBytes`, the kernel is asked to share it out, which takes longer.
 */
export function readUsage(root: number, exactAboveBytes: number): Usage {
  let memoryBytes = 0;
  let cpuMs = 0;
  const seen: number[] = [];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined && seen.length < MAX_PROCESSES_READ; pid = waiting.pop()) {
    seen.push(pid);
    try {
      memoryBytes += memoryOf(pid);
      cpuMs += processorTime(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      for (const thread of readdirSync(`/proc/${pid}/task`))
        for (const child of readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' '))
          if (child !== '') waiting.push(Number(child));
    } catch {
      // Ended while we looked.
    }
  }
  if (memoryBytes > exactAboveBytes) memoryBytes = seen.reduce((sum, pid) => sum + sharedOutMemory(pid), 0);
  return { memoryBytes, cpuMs };
}

/** Pages of its own and shared memory, not those of programs and libraries, which exist once for all. */
function ownMemory(status: string): number {
  return (kilobytes(status, 'RssAnon') + kilobytes(status, 'RssShmem')) * KIB;
}

/** The same, with each page divided by the number of processes that have it. */
function sharedOutMemory(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    return (kilobytes(rollup, 'Pss_Anon') + kilobytes(rollup, 'Pss_Shmem')) * KIB;
  } catch {
    // Ended while we looked, or not ours to look at: the larger figure counts.
    return memoryOf(pid);
  }
}

function memoryOf(pid: number): number {
  try {
    return ownMemory(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return 0;
  }
}

function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
}

/** `pid (name) state parent ...`, of which the 14th to 17th are its own time and that of children it has waited for. */
function processorTime(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
}

/**
 * Files and folders in the workspace of a jailed process; undefined where that cannot be told. Looks through the
 * process's own root, which it cannot change: nothing is opened, and no name in it is of its making.
 */
export function workspaceFiles(pid: number): number | undefined {
  try {
    const { files, ffree } = statfsSync(`/proc/${pid}/root${WORKSPACE}`);
    return files - ffree;
  } catch {
    return undefined;
  }
}

/** Whether a child of ours is dead already, though nobody has told us: that takes a turn of the event loop. */
export function hasDied(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** The first process inside a jail that was started as `root`: the one below which everything of the jail is. */
export function firstInside(root: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${root}/task/${root}/children`, 'latin1').trim();
    return children === '' ? undefined : Number(children.split(' ')[0]);
  } catch {
    return undefined;
  }
}
