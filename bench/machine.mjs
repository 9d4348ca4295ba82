// @ts-check
// What this machine is and what its processes use, read from /proc.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

/** Above this, others use the cores we measure with. */
const QUIET_LOAD = 1;

export function describeMachine() {
  const loadAverage = Number((loadavg()[0] ?? 0).toFixed(2));
  const facts = {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 1e9),
    kernel: release(),
    node: process.version,
    loadAverage,
  };
  const warning =
    loadAverage > QUIET_LOAD
      ? `warning: the load average is ${loadAverage}; times are too high on a machine that is not quiet (above ${QUIET_LOAD}), ratios less so`
      : undefined;
  const text = `${facts.cores} cores (${facts.processor}), ${facts.memoryGigabytes} GB, Linux ${facts.kernel}, Node ${facts.node}, load average ${loadAverage}`;
  return { facts, text, warning };
}

/** A process and everything below it: a jailed worker is a child of what built its jail. @param {number} pid */
export function processTree(pid) {
  const found = [pid];
  for (const parent of found) {
    try {
      const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8');
      found.push(...children.split(' ').filter(Boolean).map(Number));
    } catch {
      // It has ended since.
    }
  }
  return found;
}

/** Resident bytes of these processes together. @param {readonly number[]} pids */
export function residentBytes(pids) {
  let bytes = 0;
  for (const pid of pids) {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1];
    bytes += Number(kilobytes ?? 0) * 1_024;
  }
  return bytes;
}

/**
 * Bytes of these processes together, a page that several share counted once. Falls back to resident bytes for a process
 * whose account cannot be read.
 *
 * @param {readonly number[]} pids
 */
export function proportionalBytes(pids) {
  let bytes = 0;
  for (const pid of pids) {
    const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1];
    bytes += kilobytes === undefined ? residentBytes([pid]) : Number(kilobytes) * 1_024;
  }
  return bytes;
}

/** The most that was ever resident in one process. @param {number} pid */
export function peakResidentBytes(pid) {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? 0) * 1_024;
}

/** @param {number} pid */
export function descriptorCount(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Milliseconds of CPU time that these processes have had, all threads. @param {readonly number[]} pids */
export function processorMs(pids) {
  let nanoseconds = 0;
  for (const pid of pids) {
    for (const task of tasksOf(pid)) {
      nanoseconds += Number(readOrEmpty(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0] || 0);
    }
  }
  return nanoseconds / 1e6;
}

/**
 * CPU time of a process and everything below it, also of what has ended: as much of it as was seen before. The kernel adds the
 * time of a child to its parent only if the parent waits for it, and a jail that is killed does not.
 */
export class ProcessorMeter {
  #pid;
  /** @type {Map<number, number>} */
  #seen = new Map();

  /** @param {number} pid */
  constructor(pid) {
    this.#pid = pid;
  }

  /** In ms, never less than before. */
  read() {
    for (const pid of processTree(this.#pid))
      this.#seen.set(pid, Math.max(this.#seen.get(pid) ?? 0, processorMs([pid])));
    return [...this.#seen.values()].reduce((sum, ms) => sum + ms, 0);
  }
}

function tasksOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
