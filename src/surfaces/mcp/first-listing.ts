import type { Log } from '../../domain/log.js';
import type { Session } from '../../host/session.js';
import type { ToolView } from '../../host/tools/tool-view.js';
import { inSeconds } from '../../lib/async/seconds.js';

/**
 * How long a client's first request waits for servers whose tools were never seen, if not configured. Servers with a listing on
 * disk are never waited for. Most servers start within 5 s; clients give up after 10 to 60 s. The wait is longer if servers'
 * tools are listed directly: not every client lists again after a change notification.
 */
export const FIRST_LISTING_MS = { describing: 5_000, listing: 12_000 } as const;

/** A server that answers sooner is not mentioned. */
const QUIET_MS = 500;
const MAX_NAMED = 5;

/** Waits for servers that are starting, and names them on stderr. */
export class FirstListing {
  readonly #waitMs: number;
  readonly #log: Log;
  #waiting: Promise<void> | undefined;

  constructor(waitMs: number, log: Log) {
    this.#waitMs = waitMs;
    this.#log = log;
  }

  /** Concurrent clients share one wait. */
  wait(session: Session): Promise<void> {
    if (startingIn(session.tools()).length === 0) return Promise.resolve();
    this.#waiting ??= this.#wait(session).finally(() => {
      this.#waiting = undefined;
    });
    return this.#waiting;
  }

  async #wait(session: Session): Promise<void> {
    let open: readonly string[] = [];
    let said = '';
    const say = () => {
      const line = `waiting for ${namesOf(open)}, ${readyIn(session.tools())} servers ready`;
      if (open.length > 0 && line !== said) this.#log(line, 'info');
      said = line;
    };
    const timer = setTimeout(() => {
      isQuiet = false;
      say();
    }, QUIET_MS);
    let isQuiet = true;
    try {
      await session.settled(this.#waitMs, (waitingFor) => {
        open = waitingFor;
        if (!isQuiet) say();
      });
    } finally {
      clearTimeout(timer);
    }
    if (open.length > 0)
      this.#log(
        `${namesOf(open)}: no answer for ${inSeconds(this.#waitMs)} (catalog.firstListing); the list of tools is sent now, and later changes come with the next answer`,
        'info',
      );
  }
}

function startingIn({ forCode }: ToolView) {
  return (forCode.whole ?? forCode).servers.filter(({ isStarting }) => isStarting === true);
}

function readyIn({ forCode }: ToolView): string {
  const { servers } = forCode.whole ?? forCode;
  return `${servers.filter(({ isAvailable }) => isAvailable).length} of ${servers.length}`;
}

function namesOf(ids: readonly string[]): string {
  const more = ids.length - MAX_NAMED;
  return `${ids.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
