import { randomUUID } from 'node:crypto';
import { HostError } from '../../domain/errors.js';
import type { CallerId } from '../../domain/execution.js';
import type { Log } from '../../domain/log.js';
import type { Principal } from '../../domain/principal.js';
import type { Host } from '../../host/host.js';
import type { ServerControl } from '../../host/server-control.js';
import type { Session, SessionOptions } from '../../host/session.js';
import {
  type ExecuteCircumstances,
  type Executed,
  type ExecuteSettings,
  execute,
} from '../../profiles/unified/execute.js';

export interface RestOptions {
  readonly host: Host;
  readonly servers: ServerControl;
  /** How a caller is served under the contract `unified`. */
  readonly sessionOptionsOf: (caller: CallerId) => SessionOptions;
  readonly settings: ExecuteSettings;
  readonly version: string;
  /** How often the peer of a WebSocket is asked whether it is still there. */
  readonly pingEveryMs: number;
  readonly log: Log;
}

/** A run under way, as its caller may see and end it. */
export interface LiveRun {
  readonly runId: string;
  readonly caller: CallerId;
  readonly startedAtMs: number;
  cancel(): void;
}

export const PREFIX = '/api/v1';
/** Callers whose view of the tools is kept; the one that was quiet for longest goes first. */
const MAX_SESSIONS = 1_000;

/** What all ways of the contract `unified` over the network have in common: who asks, and what is under way for them. */
export class RestDoor {
  readonly options: RestOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #live = new Map<string, LiveRun>();
  readonly #gone = new AbortController();
  #isClosing = false;
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: RestOptions) {
    this.options = options;
  }

  sessionOf({ subject }: Principal): Session {
    const known = this.#sessions.get(subject);
    this.#sessions.delete(subject);
    const session = known ?? this.options.host.openSession(this.options.sessionOptionsOf(callerOf(subject)));
    this.#sessions.set(subject, session);
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= MAX_SESSIONS) break;
      this.#sessions.delete(oldest);
    }
    return session;
  }

  /** Executes a request of somebody; `signal` is aborted when nobody waits for the answer any more. */
  async execute(principal: Principal, input: unknown, circumstances: ExecuteCircumstances): Promise<Executed> {
    if (this.#isClosing) throw new HostError('shutting_down', 'codemode is shutting down; ask again later');
    const session = this.sessionOf(principal);
    const end = new AbortController();
    let runId = '';
    this.#running++;
    try {
      return await execute(session, input, this.options.settings, {
        ...circumstances,
        ofCaller: principal.capabilities,
        signal: AbortSignal.any([circumstances.signal, end.signal, this.#gone.signal]),
        onBegin: (id) => {
          // A second try is a run of its own, and the first is over.
          this.#live.delete(runId);
          runId = id;
          const cancel = () => end.abort();
          this.#live.set(id, { runId: id, caller: session.caller, startedAtMs: Date.now(), cancel });
        },
      });
    } finally {
      this.#live.delete(runId);
      if (--this.#running === 0) this.#onIdle?.();
    }
  }

  liveRunsOf(caller: CallerId): LiveRun[] {
    return [...this.#live.values()].filter((run) => run.caller === caller);
  }

  /** Takes nothing new, lets what is under way come to its end for a while, then ends it. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    if (this.#running > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        timer = setTimeout(resolve, graceMs);
      });
      clearTimeout(timer);
    }
    this.#gone.abort();
  }
}

export function callerOf(subject: string): CallerId {
  return `subject ${subject}` as CallerId;
}

export function newRequestId(): string {
  return randomUUID();
}
