import type { CallerId } from '../../domain/run.js';
import type { RunWorker } from './run-worker.js';

/**
 * A caller who has no worker, where all are in use, waits this long before another one's is taken for it. A new process
 * costs some 50 ms of a core, so that turns which are much shorter would be spent on changing.
 */
export const TURN_MS = 250;
/** A worker that has been idle for longer can be reclaimed: a client that continues at once sends its next program sooner. */
const PAUSE_MS = 20;
/** How often those who have no worker look for one. */
export const CHECK_EVERY_MS = 25;

/** Whether a worker may be closed for another caller: it has no programs, and none is about to return. */
export function isFree({ occupancy, idleSinceMs, turnBegunMs }: RunWorker, nowMs: number): boolean {
  return occupancy === 0 && (nowMs - idleSinceMs > PAUSE_MS || nowMs - turnBegunMs > TURN_MS);
}

/**
 * Whose turn is over, where so many callers have no worker at all: of those who have had one for long enough, who has
 * most of them first, then who has had it for longest. Those that are leaving already count, unless they take too long.
 */
export function workersToReclaim(workers: readonly RunWorker[], callersLeftOut: number, nowMs: number): RunWorker[] {
  const since = nowMs - TURN_MS;
  const leaving = workers.filter(({ isRetiring, turnEndedMs }) => isRetiring && turnEndedMs > since);
  const shares = new Map<CallerId, number>();
  for (const { caller } of workers) shares.set(caller, (shares.get(caller) ?? 0) + 1);
  const shareOf = ({ caller }: RunWorker) => shares.get(caller) ?? 0;
  return workers
    .filter(({ isExclusive, isRetiring, turnBegunMs }) => !isExclusive && !isRetiring && turnBegunMs < since)
    .sort((left, right) => shareOf(right) - shareOf(left) || left.turnBegunMs - right.turnBegunMs)
    .slice(0, Math.max(0, callersLeftOut - leaving.length));
}
