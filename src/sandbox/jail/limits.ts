import { type JailLimits, MINIMUM_PROCESSES } from './jail.js';
import type { HardLimits } from './machine.js';

/** A worker needs about twenty descriptors; an attacker needs none. */
const MAX_DESCRIPTORS = 64;

/** Threads in the pool of a worker's V8, for `--v8-pool-size`: a worker computes on one thread. */
export const POOL_THREADS = 1;

/** Threads to which Node gives a stack as large as RLIMIT_STACK: those of the pool, and the one for delayed tasks. */
const STACKED_THREADS = POOL_THREADS + 1;

/**
 * Arguments for util-linux `prlimit`, soft and hard limit at once. RLIMIT_AS is not among them: WebAssembly reserves
 * gigabytes of address space that it never touches.
 */
export function limitArguments(limits: JailLimits, hard: HardLimits): string[] {
  const { stackBytes } = limits;
  const wanted: [flag: string, value: number, kernelName: string][] = [
    ['data', limits.dataBytes + STACKED_THREADS * (stackBytes ?? 0), 'Max data size'],
    ['core', 0, 'Max core file size'],
    ['nofile', limits.descriptors ?? MAX_DESCRIPTORS, 'Max open files'],
    // POSIX message queues and locked pages are kernel memory that RLIMIT_DATA does not see.
    ['msgqueue', 0, 'Max msgqueue size'],
    ['memlock', 0, 'Max locked memory'],
  ];
  if (stackBytes !== undefined) wanted.push(['stack', stackBytes, 'Max stack size']);
  if (limits.cpuSeconds !== undefined) wanted.push(['cpu', Math.ceil(limits.cpuSeconds), 'Max cpu time']);
  return wanted.map(([flag, value, kernelName]) => limitArgument(flag, value, hard.get(kernelName)));
}

/** RLIMIT_FSIZE, separate from the others because the script of level `namespaces` first writes one small file. */
export function fileLimitArgument(limits: JailLimits, hard: HardLimits): string {
  return limitArgument('fsize', limits.fileBytes, hard.get('Max file size'));
}

/**
 * RLIMIT_NPROC. It must be set where it counts this worker alone: under its own uid, or inside its user namespace. `helpers` are
 * the jail's own processes in the same count.
 */
export function processLimitArgument(limits: JailLimits, helpers: number, hard: HardLimits): string {
  return limitArgument('nproc', Math.max(limits.processes, MINIMUM_PROCESSES) + helpers, hard.get('Max processes'));
}

function limitArgument(flag: string, value: number, hard: number | undefined): string {
  // A limit above our own hard limit would be refused and would stop the jail needlessly.
  const possible = hard === undefined ? value : Math.min(value, hard);
  return `--${flag}=${possible}:${possible}`;
}
