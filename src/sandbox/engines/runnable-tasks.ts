import { readFileSync } from 'node:fs';

/**
 * How many tasks of the whole machine have a core or wait for one, the one that asks included. The kernel counts them at this
 * moment: an average would still see the run that has just ended. 1 where it does not say.
 */
export function runnableTasks(): number {
  try {
    return runnableIn(readFileSync('/proc/loadavg', 'latin1'));
  } catch {
    return 1;
  }
}

/** `0.20 0.18 0.12 1/80 11206`: the load averages, then tasks that are runnable and all of them. */
export function runnableIn(loadavg: string): number {
  return Number(/^\S+ \S+ \S+ (\d+)\//.exec(loadavg)?.[1] ?? 1);
}
