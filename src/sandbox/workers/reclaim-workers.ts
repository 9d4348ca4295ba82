import type { CallerId } from '../../domain/run.js';
import type { RunWorker } from './run-worker.js';

/**
 * If all workers are in use, a caller without one waits this long before another caller's worker is reclaimed for it. A new
 * process costs about 50 ms of a core, so much shorter turns would be spent on switching.
 */
export const TURN_MS = 250;
/** A worker that has been idle for longer can be reclaimed: a client that continues at once sends its next program sooner. */
const PAUSE_MS = 20;
/** How often the pool looks for workers for callers that have none. */
export const CHECK_EVERY_MS = 25;

/** Whether a worker may be closed for another caller: it has no programs, and none is about to return. */
export function isFree({ occupancy, idleSinceMs, turnBegunMs }: RunWorker, nowMs: number): boolean {
  return occupancy === 0 && (nowMs - idleSinceMs > PAUSE_MS || nowMs - turnBegunMs > TURN_MS);
}

/** Whether a worker was reclaimed and still computes, another turn later. */
export function isOverdue({ isRetiring, turnEndedMs }: RunWorker, nowMs: number): boolean {
  return isRetiring && nowMs - turnEndedMs >= TURN_MS;
}

/**
 * The workers to reclaim, given the number of callers without any worker. Of the callers whose turn is over, the one with the most
 * workers comes first, then the one that has had its worker the longest. Workers that are already leaving count, unless they take
 * too long.
 */
export function workersToReclaim(workers: readonly RunWorker[], callersLeftOut: number, nowMs: number): RunWorker[] {
  const since = nowMs - TURN_MS;
  const leaving = workers.filter((worker) => worker.isRetiring && !isOverdue(worker, nowMs));
  const shares = new Map<CallerId, number>();
  for (const { caller } of workers) shares.set(caller, (shares.get(caller) ?? 0) + 1);
  const shareOf = ({ caller }: RunWorker) => shares.get(caller) ?? 0;
  return workers
    .filter(({ isExclusive, isRetiring, turnBegunMs }) => !isExclusive && !isRetiring && turnBegunMs < since)
    .sort((left, right) => shareOf(right) - shareOf(left) || left.turnBegunMs - right.turnBegunMs)
    .slice(0, Math.max(0, callersLeftOut - leaving.length));
}
