import type { Stop } from '../../../lib/async/awaitable.js';
import type { RunTaker, StoredRun } from '../../runs.js';

/** Polling finds the decisions that another process recorded. */
const LOOK_EVERY_MS = 500;
/** How many resumable runs are read beyond those there is room for. */
const MAX_PASSED_OVER = 100;

/** Polls for runs that can be resumed, and passes them on while there is room. */
export function watchResumable(find: (limit: number) => StoredRun[], taker: RunTaker): Stop {
  const taking = new Set<string>();
  const look = (): void => {
    const room = taker.room - taking.size;
    if (room <= 0) return;
    // Runs that this host cannot resume because it lacks a server must not hide others.
    const isOurs = (run: StoredRun) => !taking.has(run.id) && taker.canTake(run);
    for (const run of found(find, taker.room).filter(isOurs).slice(0, room)) {
      taking.add(run.id);
      void taker
        .take(run)
        // The run stays suspended, and the next poll retries.
        .catch(() => false)
        .then((wasTaken) => {
          taking.delete(run.id);
          // Only if it was taken: a run that is resumed elsewhere would be found again at once, in a busy loop.
          if (wasTaken && !isStopped) look();
        });
    }
  };
  let isStopped = false;
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

/** The disk may be full or the file busy: the next poll retries. */
function found(find: (limit: number) => StoredRun[], room: number): StoredRun[] {
  try {
    return find(room + MAX_PASSED_OVER);
  } catch {
    return [];
  }
}
