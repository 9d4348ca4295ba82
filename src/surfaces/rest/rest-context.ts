import { randomUUID } from 'node:crypto';
import { HostError } from '../../domain/errors.js';
import type { Log } from '../../domain/log.js';
import { authorizedUntil, callerOf, type Principal, reachKey } from '../../domain/principal.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import type { CallerId } from '../../domain/run.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import type { TraceContext } from '../../domain/trace.js';
import type { Host } from '../../host/host.js';
import type { OnBegin } from '../../host/runs/run-types.js';
import type { ServerControl } from '../../host/servers/server-control.js';
import type { Session, SessionOptions } from '../../host/session.js';
import { Cancellation } from '../../lib/async/cancellation.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { LIBRARY_DECLARATIONS } from '../../profiles/codemode/prompt/library-declarations.js';
import { Ticket } from '../../profiles/runner/envelope.js';
import { answerRequest, type RunnerAnswer } from '../../profiles/runner/run-program.js';
import type { RunnerSettings } from '../../profiles/runner/settings.js';
import { type ExecuteContext, type Executed, type ExecuteSettings, execute } from '../../profiles/unified/execute.js';

export interface RestOptions {
  readonly host: Host;
  readonly servers: ServerControl;
  /** Session options of a caller under the contract `unified`. */
  readonly sessionOptionsOf: (caller: CallerId) => SessionOptions;
  readonly settings: ExecuteSettings;
  /** Runs programs on real interpreters, if that contract is served. */
  readonly runner?: RunnerRest | undefined;
  readonly version: string;
  /** Interval of WebSocket pings. */
  readonly pingEveryMs: number;
  readonly log: Log;
}

export interface RunnerRest {
  readonly settings: RunnerSettings;
  readonly sessionOptionsOf: (caller: CallerId) => SessionOptions;
}

/** A request to run something, and its caller. */
export interface RestRunRequest {
  readonly principal: Principal;
  readonly body: unknown;
  /** Aborted when the client disconnects before it is answered. */
  readonly signal: StopSignal;
  readonly trace?: TraceContext;
}

/** A run in progress. Its caller may see and cancel it. */
export interface LiveRun {
  readonly runId: string;
  readonly caller: CallerId;
  readonly createdAtMs: number;
  cancel(): void;
}

export const PREFIX = '/api/v1';
/** Callers whose view of the tools is cached. The least recently used one is evicted first. */
const MAX_SESSIONS = 1_000;

/** What all network endpoints of the contract `unified` share: sessions of callers, and runs in progress. */
export class RestContext {
  readonly options: RestOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #runnerSessions = new Map<string, Session>();
  readonly #checkingSessions = new Map<string, Session>();
  readonly #live = new Map<string, LiveRun>();
  /** Functions that cancel the runs in progress. */
  readonly #inFlight = new Set<() => void>();
  #isClosing = false;
  #onIdle: (() => void) | undefined;

  constructor(options: RestOptions) {
    this.options = options;
  }

  sessionOf(principal: Principal): Session {
    return this.#keptSession(this.#sessions, principal, this.options.sessionOptionsOf);
  }

  /** A session of the same caller for programs of contract `codemode`, which are only type-checked here. */
  checkingSessionOf(principal: Principal): Session {
    const { sessionOptionsOf } = this.options;
    const optionsOf = (caller: CallerId): SessionOptions => {
      // Programs of `codemode` are modules, not function bodies.
      const { checksBodies: _, ...options } = sessionOptionsOf(caller);
      return { ...options, profile: 'codemode', checkedLibrary: LIBRARY_DECLARATIONS };
    };
    return this.#keptSession(this.#checkingSessions, principal, optionsOf);
  }

  /** A caller's view of the tools is slow to build, so it is cached per reach of the token. */
  #keptSession(
    sessions: Map<string, Session>,
    principal: Principal,
    sessionOptionsOf: (caller: CallerId) => SessionOptions,
  ): Session {
    const key = reachKey(principal);
    const { capabilities: bounds } = principal;
    const open = () =>
      this.options.host.openSession({
        ...sessionOptionsOf(callerOf(principal)),
        ...omitUndefined({ bounds }),
      });
    return keep(sessions, key, sessions.get(key) ?? open());
  }

  /** Executes a caller's request. `signal` is aborted when no client waits for the response any more. */
  execute(
    principal: Principal,
    input: unknown,
    context: Omit<ExecuteContext, 'ofCaller' | 'onBegin'>,
  ): Promise<Executed> {
    const session = this.sessionOf(principal);
    return this.#during(session.caller, context.signal, ({ onBegin, signal }) =>
      execute(session, input, this.options.settings, {
        onBegin,
        ...context,
        signal,
        ofCaller: principal.capabilities,
        ...authorizedUntil(principal),
      }),
    );
  }

  /** Like `execute`, for a program on a real interpreter. */
  runProgram(
    runner: RunnerRest,
    language: ProcessLanguage,
    { principal, body, signal, trace }: RestRunRequest,
  ): Promise<RunnerAnswer> {
    const session = this.#keptSession(this.#runnerSessions, principal, runner.sessionOptionsOf);
    const ticket = new Ticket(language, trace?.traceId);
    const ofRequest = { ...authorizedUntil(principal), ...omitUndefined({ trace }) };
    return this.#during(session.caller, signal, ({ onBegin, ...live }) => {
      onBegin(ticket.runId, ticket.createdAtMs);
      return answerRequest(session, ticket, language, body, runner.settings, { ...live, ...ofRequest });
    });
  }

  /** Registers a run while it is in progress, so that its caller can see and cancel it. */
  async #during<Value>(
    caller: CallerId,
    signal: StopSignal,
    run: (live: { signal: StopSignal; onBegin: OnBegin }) => Promise<Value>,
  ): Promise<Value> {
    if (this.#isClosing) throw new HostError('shutting_down', 'codemode is shutting down; ask again later');
    const end = new Cancellation();
    const cancel = () => end.cancel();
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
    this.#inFlight.add(cancel);
    let runId = '';
    try {
      return await run({
        signal: end,
        onBegin: (id, createdAtMs) => {
          // A retry is a run of its own, and the first run is over.
          this.#live.delete(runId);
          runId = id;
          this.#live.set(id, { runId: id, caller, createdAtMs, cancel });
        },
      });
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#inFlight.delete(cancel);
      this.#live.delete(runId);
      if (this.#inFlight.size === 0) this.#onIdle?.();
    }
  }

  liveRunsOf(caller: CallerId): LiveRun[] {
    return [...this.#live.values()].filter((run) => run.caller === caller);
  }

  /** Refuses new requests, lets runs in progress finish within the grace period, then cancels them. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    if (this.#inFlight.size > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        timer = setTimeout(resolve, graceMs);
      });
      clearTimeout(timer);
    }
    for (const cancel of this.#inFlight) cancel();
  }
}

function keep(sessions: Map<string, Session>, key: string, session: Session): Session {
  sessions.delete(key);
  sessions.set(key, session);
  for (const oldest of sessions.keys()) {
    if (sessions.size <= MAX_SESSIONS) break;
    sessions.delete(oldest);
  }
  return session;
}

export function newRequestId(): string {
  return randomUUID();
}
