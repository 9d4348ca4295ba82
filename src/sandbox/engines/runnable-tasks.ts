import { readFileSync } from 'node:fs';

/**
 * How many tasks of the whole machine have a core or wait for one, this process included. It is the kernel's current count: an
 * average would still include a run that has just ended. 1 if the kernel does not report it.
 */
export function runnableTasks(): number {
  try {
    return runnableIn(readFileSync('/proc/loadavg', 'latin1'));
  } catch {
    return 1;
  }
}

/** `0.20 0.18 0.12 1/80 11206`: the load averages, then runnable tasks and all tasks. */
export function runnableIn(loadavg: string): number {
  return Number(/^\S+ \S+ \S+ (\d+)\//.exec(loadavg)?.[1] ?? 1);
}
