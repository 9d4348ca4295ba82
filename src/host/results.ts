import { randomUUID } from 'node:crypto';
import { ReceivedData } from '../broker/policy/flow.js';
import type { CallerId, CallReply, VirtualModule } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
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

/** Kept values of one caller; the oldest go first. */
const MAX_KEPT = 64;
const MAX_KEPT_BYTES = 128 * 1024 * 1024;

/** A run that goes on after its client was answered. */
export interface DetachedRun {
  readonly runId: string;
  /** The response it would have been answered with. Never rejects. */
  readonly response: Promise<JsonValue>;
  /** What it has received from servers, and goes on receiving. */
  readonly received: ReceivedData;
}

interface Kept {
  readonly value: { readonly json: string } | { readonly run: DetachedRun };
  /** Whoever gets the value gets the data of these servers. */
  readonly received: ReceivedData;
  readonly bytes: number;
}

/** Of the run that asks for what was kept. */
export interface ResultCircumstances {
  readonly sleeping: SleepingRuns;
  readonly signal: AbortSignal;
  /** The run gets data of these servers; nobody knows of which where it was written down by a process that is gone. */
  readonly onReceived: (received: ReceivedData | 'unknown') => void;
}

/** What is kept for callers between runs. One caller never sees another's. */
export class KeptResults {
  readonly #kept = new Map<CallerId, Map<string, Kept>>();

  keep(caller: CallerId, json: string, received = new ReceivedData()): string {
    const handle = `result-${randomUUID()}`;
    this.#put(caller, handle, { value: { json }, received, bytes: Buffer.byteLength(json) });
    return handle;
  }

  keepRun(caller: CallerId, run: DetachedRun): void {
    this.#put(caller, run.runId, { value: { run }, received: run.received, bytes: 0 });
  }

  runOf(caller: CallerId, runId: string): DetachedRun | undefined {
    const kept = this.#kept.get(caller)?.get(runId);
    return kept !== undefined && 'run' in kept.value ? kept.value.run : undefined;
  }

  forget(caller: CallerId): void {
    this.#kept.delete(caller);
  }

  async answer(
    target: string,
    [name]: readonly JsonValue[],
    caller: CallerId,
    { sleeping, signal, onReceived }: ResultCircumstances,
  ): Promise<CallReply> {
    const kept = typeof name === 'string' ? this.#kept.get(caller)?.get(name) : undefined;
    if (target === `${TARGET}load` && kept !== undefined && 'json' in kept.value) {
      onReceived(kept.received);
      return { ok: true, json: kept.value.json };
    }
    if (target === `${TARGET}wait` && kept !== undefined && 'run' in kept.value) {
      const json = JSON.stringify(await kept.value.run.response);
      onReceived(kept.received);
      return { ok: true, json };
    }
    if (target === `${TARGET}wait` && typeof name === 'string') {
      const run = await sleeping.outcomeOf(caller, name, signal);
      if (run !== undefined) {
        onReceived('unknown');
        return outcomeReply(run);
      }
    }
    return {
      ok: false,
      error: {
        errorClass: 'CodemodeError',
        message: `nothing is kept under ${JSON.stringify(name ?? null)}`,
        hint: 'Handles and run ids come from the diagnostics of an earlier run, and old ones are dropped: run that program again.',
      },
    };
  }

  #put(caller: CallerId, name: string, kept: Kept): void {
    const mine = this.#kept.get(caller) ?? new Map<string, Kept>();
    this.#kept.set(caller, mine);
    mine.set(name, kept);
    let bytes = 0;
    for (const each of mine.values()) bytes += each.bytes;
    for (const [oldest, each] of mine) {
      if (mine.size <= MAX_KEPT && bytes <= MAX_KEPT_BYTES) break;
      mine.delete(oldest);
      bytes -= each.bytes;
    }
  }
}

/** A run that has ended gives its response; one that sleeps says what it waits for. */
function outcomeReply({ runId, state, response, approvals }: RunView): CallReply {
  if (state === 'finished' || state === 'failed') return { ok: true, json: JSON.stringify(response) };
  const pending = approvals.filter((each) => each.state === 'PENDING').map(({ id }) => id);
  const [first] = pending;
  return {
    ok: false,
    error: {
      errorClass: 'CodemodeError',
      message:
        first === undefined
          ? `run ${runId} is ${state === 'cancelled' ? 'cancelled' : 'still under way'}`
          : `run ${runId} waits for a person to decide about ${pending.join(', ')}`,
      hint:
        first === undefined
          ? 'Ask for it again later, or go on without it.'
          : `Ask the user to type: codemode approvals approve ${first}`,
    },
  };
}
