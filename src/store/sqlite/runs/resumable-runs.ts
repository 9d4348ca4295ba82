import type { Stop } from '../../../lib/async/awaitable.js';
import type { RunTaker, StoredRun } from '../../runs.js';

/** Decisions that another process recorded are found by looking. */
const LOOK_EVERY_MS = 500;
/** Resumable runs that are looked at beside those that there is room for. */
const MAX_PASSED_OVER = 100;

/** Looks for runs that can be resumed, and passes them on as far as there is room. */
export function watchResumable(find: (limit: number) => StoredRun[], taker: RunTaker): Stop {
  const taking = new Set<string>();
  const look = (): void => {
    const room = taker.room - taking.size;
    if (room <= 0) return;
    // Runs that this host cannot resume, for lack of a server, must not hide others.
    const isOurs = (run: StoredRun) => !taking.has(run.id) && taker.canTake(run);
    for (const run of found(find, taker.room).filter(isOurs).slice(0, room)) {
      taking.add(run.id);
      void taker
        .take(run)
        // It stays suspended, and the next look tries again.
        .catch(() => false)
        .then((wasTaken) => {
          taking.delete(run.id);
          // One that is resumed elsewhere is found again at once, and nothing but this would run any more.
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

/** The disk may be full or the file busy: the next look tries again. */
function found(find: (limit: number) => StoredRun[], room: number): StoredRun[] {
  try {
    return find(room + MAX_PASSED_OVER);
  } catch {
    return [];
  }
}
