import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { WORKSPACE } from '../jail/jail.js';

/** The current resource usage of all processes below one process, as reported by the kernel. */
export interface Usage {
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

/** Far more than a jail may have. This bounds a tree that grows while it is read. */
const MAX_PROCESSES_READ = 1_000;
const KIB = 1024;
/** USER_HZ, which the kernel uses for every value in ticks. */
const MS_PER_TICK = 10;

/**
 * Reads small files of /proc: about 40 µs per process. Memory shared by forks counts for each of them there. If the sum exceeds
 * `exactAboveBytes`, the kernel's proportional figures are read instead, which takes longer.
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
      // The process ended in the meantime.
    }
  }
  if (memoryBytes > exactAboveBytes) memoryBytes = seen.reduce((sum, pid) => sum + sharedOutMemory(pid), 0);
  return { memoryBytes, cpuMs };
}

/** Private pages and shared memory, without the pages of programs and libraries, which exist once for all. */
function ownMemory(status: string): number {
  return (kilobytes(status, 'RssAnon') + kilobytes(status, 'RssShmem')) * KIB;
}

/** The same, with each page divided by the number of processes that map it. */
function sharedOutMemory(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    return (kilobytes(rollup, 'Pss_Anon') + kilobytes(rollup, 'Pss_Shmem')) * KIB;
  } catch {
    // The process ended in the meantime, or may not be inspected: the larger figure counts.
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

/** `pid (name) state parent ...`. Fields 14 to 17 are its own CPU time and that of the children it has waited for. */
function processorTime(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
}

/**
 * Files and folders in the workspace of a jailed process; undefined if that cannot be determined. Reads through the process's own
 * root, which it cannot change: nothing is opened, and the process chose no name in the path.
 */
export function workspaceFiles(pid: number): number | undefined {
  try {
    const { files, ffree } = statfsSync(`/proc/${pid}/root${WORKSPACE}`);
    return files - ffree;
  } catch {
    return undefined;
  }
}

/** Whether our child is dead, before the exit event arrives: the event takes a turn of the event loop. */
export function hasDied(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** The first process inside a jail that was started as `root`: all others in the jail are its descendants. */
export function firstInside(root: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${root}/task/${root}/children`, 'latin1').trim();
    return children === '' ? undefined : Number(children.split(' ')[0]);
  } catch {
    return undefined;
  }
}
