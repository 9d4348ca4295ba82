import { randomUUID } from 'node:crypto';
import { ReceivedData } from '../broker/policy/flow.js';
import type { CallerId, CallReply, VirtualModule } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import { CallerQuotas } from '../domain/quotas.js';
import { partOfResult } from './part-of-result.js';
import type { RunView, SleepingRuns } from './sleeping-runs.js';

/** `@codemode/results`: what an earlier run could not hand over at once, for a later one to fetch. */

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

/** Kept values of one caller, of all its sessions together, and as many bytes as its quota allows; the oldest go first. */
const MAX_KEPT = 64;

/** A run that goes on after its client was answered. */
export interface DetachedRun {
  readonly runId: string;
  /** What it comes to here: the response it would have been answered with. Never rejects. */
  readonly ended: Promise<{
    readonly response: JsonValue /** It goes on from the store. */;
    readonly isSuspended: boolean;
  }>;
  /** What it has received from servers, and goes on receiving. */
  readonly received: ReceivedData;
}

/** For whom something is kept: a caller, and one of its sessions where it has any. */
export interface ResultOwner {
  readonly caller: CallerId;
  readonly sessionId?: string | undefined;
}

interface Kept {
  readonly sessionId: string | undefined;
  readonly value: { readonly json: string } | { readonly run: DetachedRun };
  /** Whoever gets the value gets the data of these servers. */
  readonly received: ReceivedData;
  readonly bytes: number;
}

/** The word that stands for the newest run of a caller, as on the command line. */
const LAST = 'last';

/** Of the run that asks for what was kept. */
export interface ResultCircumstances {
  readonly runId: string;
  readonly sleeping: SleepingRuns;
  readonly signal: AbortSignal;
  /** What is left of the time of the program that asks. */
  readonly remainingMs: () => number;
  /** The run gets data of these servers; nobody knows of which where it was written down by a process that is gone. */
  readonly onReceived: (received: ReceivedData | 'unknown') => void;
}

/** What is kept for callers between runs. One caller never sees another's, nor one session of a caller that of another. */
export class KeptResults {
  readonly #kept = new Map<CallerId, Map<string, Kept>>();
  readonly #quotas: CallerQuotas;

  constructor(quotas = new CallerQuotas()) {
    this.#quotas = quotas;
  }

  keep({ caller, sessionId }: ResultOwner, json: string, received = new ReceivedData()): string {
    const handle = `result-${randomUUID()}`;
    this.#put(caller, handle, { sessionId, value: { json }, received, bytes: Buffer.byteLength(json) });
    return handle;
  }

  keepRun({ caller, sessionId }: ResultOwner, run: DetachedRun): void {
    this.#put(caller, run.runId, { sessionId, value: { run }, received: run.received, bytes: 0 });
  }

  /** A session that has ended leaves what its caller has in others. */
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
    circumstances: ResultCircumstances,
  ): Promise<CallReply> {
    const isWait = target === `${TARGET}wait`;
    const name = isWait && given === LAST ? await this.#newestRun({ caller, sessionId }, circumstances) : given;
    const found = typeof name === 'string' ? this.#kept.get(caller)?.get(name) : undefined;
    const kept = found?.sessionId === undefined || found.sessionId === sessionId ? found : undefined;
    if (target === `${TARGET}load` && kept !== undefined && 'json' in kept.value) {
      const part = partOfResult(kept.value.json, request);
      if ('problem' in part)
        return failed(part.problem, `Correct the second argument of load(${JSON.stringify(name)}, …).`);
      circumstances.onReceived(kept.received);
      return { ok: true, json: part.json };
    }
    if (isWait && typeof name === 'string') {
      const run = kept !== undefined && 'run' in kept.value ? kept.value.run : undefined;
      const reply = await waitForRun(name, run, caller, circumstances);
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

  /** The one that was answered before its end last, or else the newest that was stored; never the one that asks. */
  async #newestRun(
    { caller, sessionId }: ResultOwner,
    { sleeping, runId }: ResultCircumstances,
  ): Promise<string | undefined> {
    const [detached] = [...(this.#kept.get(caller) ?? [])]
      .flatMap(([id, kept]) => ('run' in kept.value && (kept.sessionId ?? sessionId) === sessionId ? [id] : []))
      .slice(-1);
    if (detached !== undefined && (await sleeping.outcomeOf(caller, detached)) === undefined) return detached;
    const stored = await sleeping.list(2, caller);
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
      bytes -= each.bytes;
      this.#quotas.countRefusal('results');
    }
  }
}

/** Left to a program that waited in vain, to say so. */
const LAST_WORDS_MS = 1_000;
const LOOK_EVERY_MS = 100;

/**
 * Waits until a run has ended, wherever that is, or until the time of the program that asks is nearly over. `undefined`
 * where this caller has no such run.
 */
async function waitForRun(
  runId: string,
  detached: DetachedRun | undefined,
  caller: CallerId,
  { sleeping, signal, remainingMs, onReceived }: ResultCircumstances,
): Promise<CallReply | undefined> {
  const marginMs = Math.min(LAST_WORDS_MS, remainingMs() / 4);
  const isOver = () => signal.aborted || remainingMs() <= marginMs;
  if (detached !== undefined) {
    const ended = await untilOver(detached.ended, isOver);
    if (ended === undefined) return notYet(runId, 'running', []);
    if (!ended.isSuspended) {
      onReceived(detached.received);
      return { ok: true, json: JSON.stringify(ended.response) };
    }
  }
  for (;;) {
    const run = await sleeping.outcomeOf(caller, runId);
    if (run === undefined) return undefined;
    const { state, response, approvals } = run;
    if (state === 'finished' || state === 'failed') {
      onReceived('unknown');
      return { ok: true, json: JSON.stringify(response) };
    }
    if (state === 'cancelled') return failed(`run ${runId} was cancelled`, 'Go on without it.');
    if (isOver()) return notYet(runId, state, approvals);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** What a promise comes to, or `undefined` where it takes too long. */
async function untilOver<Value>(promise: Promise<Value>, isOver: () => boolean): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setInterval(() => {
      if (isOver()) resolve(undefined);
    }, LOOK_EVERY_MS);
  });
  return Promise.race([promise, over]).finally(() => clearInterval(timer));
}

function notYet(runId: string, state: RunView['state'], approvals: RunView['approvals']): CallReply {
  const again = `call wait(${JSON.stringify(runId)}) again in a later program; do not run its program again.`;
  const pending = approvals.filter((each) => each.state === 'PENDING').map(({ id }) => id);
  if (pending[0] !== undefined)
    return failed(
      `run ${runId} still waits for a person to decide about ${pending.join(', ')}, and the time of this program is nearly over`,
      `Ask the user to type: codemode approvals approve ${pending[0]}. Then ${again}`,
    );
  if (state === 'waiting')
    return failed(
      `run ${runId} is suspended; its calls are decided, and no host has resumed it`,
      `Ask the user to type: codemode runs resume ${runId}. Then ${again}`,
    );
  return failed(`run ${runId} is still running, and the time of this program is nearly over`, `C${again.slice(1)}`);
}

function failed(message: string, hint: string): CallReply {
  return { ok: false, error: { errorClass: 'CodemodeError', message, hint } };
}
