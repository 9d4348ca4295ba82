import { randomUUID } from 'node:crypto';
import { ReceivedData } from '../../broker/policy/flow.js';
import type { JsonValue } from '../../domain/json.js';
import { CallerQuotas } from '../../domain/quotas.js';
import type { CallerId, CallReply, VirtualModule } from '../../domain/run.js';
import type { ResultStore } from '../../store/results.js';
import { type CallerTurns, PROGRAM_ENDED } from '../calls/caller-turns.js';
import { partOfResult } from '../calls/part-of-result.js';
import type { RunView } from './run-view.js';
import type { SuspendedRuns } from './suspended-runs.js';

/** `@codemode/results`: results that were too large for an earlier run's response, for a later run to load. */

const TARGET = '@results/';

export const RESULTS_MODULE: VirtualModule = {
  specifier: '@codemode/results',
  exports: [
    { kind: 'call', name: 'load', target: `${TARGET}load` },
    { kind: 'call', name: 'wait', target: `${TARGET}wait` },
  ],
};

export function isResults(target: string): boolean {
  return target.startsWith(TARGET);
}

/** Kept values of one caller over all its sessions, within the bytes of its quota. The oldest are dropped first. */
const MAX_KEPT = 64;

/** A run that continues after its client got a response. */
export interface DetachedRun {
  readonly runId: string;
  /** The response that the client would have got. Never rejects. */
  readonly ended: Promise<{
    readonly response: JsonValue /** The run is suspended in the store. */;
    readonly isSuspended: boolean;
  }>;
  /** The data it has received from servers; it still grows. */
  readonly received: ReceivedData;
}

/** Whom a result is kept for: a caller, and one of its sessions if it has any. */
export interface ResultOwner {
  readonly caller: CallerId;
  readonly sessionId?: string | undefined;
}

interface Kept {
  readonly sessionId: string | undefined;
  readonly value: { readonly json: string } | { readonly run: DetachedRun };
  /** The servers whose data the value contains: a run that loads it has read them. */
  readonly received: ReceivedData;
  readonly bytes: number;
}

/** The id that means the caller's newest run, as on the command line. */
const LAST = 'last';

/** The run that loads a kept result. */
export interface ResultContext {
  readonly runId: string;
  readonly suspended: SuspendedRuns;
  /** Reading a value or a run is work of the host. */
  readonly turns: CallerTurns;
  readonly signal: AbortSignal;
  /** The time that the requesting program has left. */
  readonly remainingMs: () => number;
  /** Called with the servers whose data the run receives; `unknown` if an earlier process stored the value. */
  readonly onReceived: (received: ReceivedData | 'unknown') => void;
  /** Called with the answer of a run that was waited for and has failed: a program may look at its result alone. */
  readonly onFailedRun?: (runId: string, response: JsonValue) => void;
  /** What the program gets of the response of a run that it waited for; absent: all of it. */
  readonly awaited?: ((response: JsonValue) => JsonValue) | undefined;
}

/** The results and runs of other hosts of the store. */
export interface OtherHosts {
  /** Absent if the hosts do not share results. */
  readonly results?: ResultStore | undefined;
  /** Whether a run of this caller is in flight on one of them. */
  isInProgress(runId: string, caller: CallerId): Promise<boolean>;
}

/** Results kept between runs. A caller never sees those of another, nor a session those of another session. */
export class KeptResults {
  readonly #kept = new Map<CallerId, Map<string, Kept>>();
  readonly #quotas: CallerQuotas;

  readonly #others: OtherHosts | undefined;

  constructor(quotas = new CallerQuotas(), others?: OtherHosts) {
    this.#quotas = quotas;
    this.#others = others;
  }

  keep({ caller, sessionId }: ResultOwner, json: string, received = new ReceivedData()): string {
    const handle = `result-${randomUUID()}`;
    this.#put(caller, handle, { sessionId, value: { json }, received, bytes: Buffer.byteLength(json) });
    // A session stays on one host. Without a session, the next request may reach another host.
    if (sessionId === undefined) this.#others?.results?.write(caller, handle, json).catch(() => {});
    return handle;
  }

  keepRun({ caller, sessionId }: ResultOwner, run: DetachedRun): void {
    this.#put(caller, run.runId, { sessionId, value: { run }, received: run.received, bytes: 0 });
  }

  /** Drops the results of an ended session. Other sessions of the caller keep theirs. */
  forget({ caller, sessionId }: ResultOwner): void {
    const mine = this.#kept.get(caller);
    if (sessionId === undefined || mine === undefined) {
      this.#kept.delete(caller);
      return;
    }
    for (const [name, kept] of mine) if (kept.sessionId === sessionId) mine.delete(name);
    if (mine.size === 0) this.#kept.delete(caller);
  }

  async answer(
    target: string,
    [given, request]: readonly JsonValue[],
    { caller, sessionId }: ResultOwner,
    context: ResultContext,
  ): Promise<CallReply> {
    const isWait = target === `${TARGET}wait`;
    const name = isWait && given === LAST ? await this.#newestRun({ caller, sessionId }, context) : given;
    const found = typeof name === 'string' ? this.#kept.get(caller)?.get(name) : undefined;
    const kept = found?.sessionId === undefined || found.sessionId === sessionId ? found : undefined;
    const { turns, signal, onReceived } = context;
    const loadPart = (json: string, received: ReceivedData | 'unknown') =>
      turns.take(caller, signal, (): CallReply => {
        const part = partOfResult(json, request);
        if ('problem' in part)
          return failed(part.problem, `Correct the second argument of load(${JSON.stringify(name)}, …).`);
        onReceived(received);
        return { ok: true, json: part.json };
      });
    if (target === `${TARGET}load` && kept !== undefined && 'json' in kept.value)
      return (await loadPart(kept.value.json, kept.received)) ?? PROGRAM_ENDED;
    const elsewhere =
      kept === undefined && !isWait && isHandle(name)
        ? await turns.take(caller, signal, () => this.#others?.results?.read(caller, name))
        : undefined;
    // Only its own host knows which servers the data came from.
    if (elsewhere !== undefined) return (await loadPart(elsewhere, 'unknown')) ?? PROGRAM_ENDED;
    if (isWait && typeof name === 'string') {
      const run = kept !== undefined && 'run' in kept.value ? kept.value.run : undefined;
      const reply = await waitForRun(name, run, caller, context, this.#others);
      if (reply !== undefined) return reply;
    }
    return {
      ok: false,
      error: {
        errorClass: 'CodemodeError',
        message: `nothing is kept for you under ${JSON.stringify(given ?? null)}`,
        // Not "run it again": its calls may have been made, and it may belong to another caller.
        hint: 'Handles and run ids come from the diagnostics of your own earlier runs, and old ones are dropped. Ask the user to look: codemode runs',
      },
    };
  }

  /** The newest detached run, or else the newest stored one; never the requesting run itself. */
  async #newestRun(
    { caller, sessionId }: ResultOwner,
    { suspended, runId }: ResultContext,
  ): Promise<string | undefined> {
    const [detached] = [...(this.#kept.get(caller) ?? [])]
      .flatMap(([id, kept]) => ('run' in kept.value && (kept.sessionId ?? sessionId) === sessionId ? [id] : []))
      .slice(-1);
    if (detached !== undefined && (await suspended.outcomeOf(caller, detached)) === undefined) return detached;
    const stored = await suspended.list(2, caller);
    return stored.find((run) => run.runId !== runId)?.runId;
  }

  #put(caller: CallerId, name: string, kept: Kept): void {
    const mine = this.#kept.get(caller) ?? new Map<string, Kept>();
    this.#kept.set(caller, mine);
    mine.set(name, kept);
    let bytes = 0;
    for (const each of mine.values()) bytes += each.bytes;
    for (const [oldest, each] of mine) {
      if (mine.size <= MAX_KEPT && bytes <= this.#quotas.limits.results) break;
      mine.delete(oldest);
      if ('json' in each.value && each.sessionId === undefined)
        this.#others?.results?.remove(caller, oldest).catch(() => {});
      bytes -= each.bytes;
      this.#quotas.countRefusal('results');
    }
  }
}

/** Time left for the program to handle the error when the run has not ended in time. */
const ANSWER_MARGIN_MS = 1_000;
const POLL_EVERY_MS = 100;

/**
 * Waits until a run has ended, in any process, or until the requesting program's time is nearly over. `undefined` if this
 * caller has no such run.
 */
async function waitForRun(
  runId: string,
  detached: DetachedRun | undefined,
  caller: CallerId,
  { suspended, turns, signal, remainingMs, onReceived, onFailedRun, awaited = (whole) => whole }: ResultContext,
  others: OtherHosts | undefined,
): Promise<CallReply | undefined> {
  const marginMs = Math.min(ANSWER_MARGIN_MS, remainingMs() / 4);
  const isOver = () => signal.aborted || remainingMs() <= marginMs;
  if (detached !== undefined) {
    const ended = await untilOver(detached.ended, isOver);
    if (ended === undefined) return notYet(runId, 'running', []);
    if (!ended.isSuspended) {
      onReceived(detached.received);
      onFailedRun?.(runId, ended.response);
      return { ok: true, json: JSON.stringify(awaited(ended.response)) };
    }
  }
  for (;;) {
    const run = await turns.take(caller, signal, () => suspended.outcomeOf(caller, runId));
    if (signal.aborted) return PROGRAM_ENDED;
    if (run === undefined && (await others?.isInProgress(runId, caller)) !== true) return undefined;
    const { state, response, approvals } = run ?? UNDER_WAY;
    if (state === 'succeeded' || state === 'failed') {
      onReceived('unknown');
      if (state === 'failed') onFailedRun?.(runId, response);
      return { ok: true, json: JSON.stringify(awaited(response)) };
    }
    if (state === 'cancelled') return failed(`run ${runId} was cancelled`, 'Continue without it.');
    if (isOver()) return notYet(runId, state, approvals);
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
}

const UNDER_WAY = { state: 'running', response: null, approvals: [] } as const;

function isHandle(name: JsonValue | undefined): name is string {
  return typeof name === 'string' && /^result-[0-9a-f-]{36}$/.test(name);
}

/** The value of a promise, or `undefined` if it takes too long. */
async function untilOver<Value>(promise: Promise<Value>, isOver: () => boolean): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setInterval(() => {
      if (isOver()) resolve(undefined);
    }, POLL_EVERY_MS);
  });
  return Promise.race([promise, over]).finally(() => clearInterval(timer));
}

function notYet(runId: string, state: RunView['state'], approvals: RunView['approvals']): CallReply {
  const again = `call wait(${JSON.stringify(runId)}) again in a later program; do not run its program again.`;
  const pending = approvals.filter((each) => each.state === 'PENDING').map(({ id }) => id);
  if (pending[0] !== undefined)
    return failed(
      `run ${runId} still waits for a person to decide about ${pending.join(', ')}, and the time of this program is nearly over`,
      `Ask the user to type: codemode approvals approve ${pending[0]}${pending.length > 1 ? ' --scope calls' : ''}. Then ${again}`,
    );
  if (state === 'suspended')
    return failed(
      `run ${runId} is suspended; its calls are decided, and no host has resumed it`,
      `Ask the user to type: codemode runs resume ${runId}. Then ${again}`,
    );
  return failed(`run ${runId} is still running, and the time of this program is nearly over`, `C${again.slice(1)}`);
}

function failed(message: string, hint: string): CallReply {
  return { ok: false, error: { errorClass: 'CodemodeError', message, hint } };
}
