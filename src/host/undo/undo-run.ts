import type { Broker, BrokerOutcome } from '../../broker/broker.js';
import { openRunContext } from '../../broker/run-context.js';
import type { RunLedger } from '../../broker/run-ledger.js';
import type { CallVerdict } from '../../domain/audit.js';
import { HostError } from '../../domain/errors.js';
import type { CallerId } from '../../domain/run.js';
import type { UndoStore } from '../../store/undo.js';
import type { AskPerson } from '../runs/run-client.js';
import type { UndoStep } from './undo-plan.js';

/** The run whose calls are undone. */
export interface UndoneRun {
  readonly runId: string;
  readonly caller: CallerId;
  readonly profile: string;
  /** The data it had received: arguments of inverse calls are made from it. */
  readonly ledger: RunLedger;
}

export interface UndoParts {
  readonly broker: Broker;
  readonly store: UndoStore;
  /** How long a person may take. */
  readonly patienceMs: number;
  readonly askPerson?: AskPerson | undefined;
  readonly signal: AbortSignal;
  /** Calls that a person leaves as they are, although they could be undone. */
  readonly skipped?: ReadonlySet<number> | undefined;
}

/** The outcome of one step. */
export interface UndoneStep {
  readonly step: UndoStep;
  readonly outcome: 'undone' | 'waits' | 'refused' | 'failed' | 'unknown';
  readonly message?: string;
}

/**
 * Makes the inverse calls in this order, through the broker and as the caller of the run. Stops at the first that is refused or
 * fails: earlier effects may depend on it. Each call is recorded before it is sent, so that none is made twice.
 */
export async function undoSteps(
  run: UndoneRun,
  steps: readonly UndoStep[],
  parts: UndoParts,
  onStep: (done: UndoneStep) => void = () => {},
): Promise<readonly UndoneStep[]> {
  const done: UndoneStep[] = [];
  for (const step of steps) {
    if (step.state !== 'ready' || parts.skipped?.has(step.call) === true) continue;
    const result = await undoOne(run, step, parts);
    done.push(result);
    onStep(result);
    if (result.outcome !== 'undone') break;
  }
  return done;
}

async function undoOne(
  { runId, caller, profile, ledger }: UndoneRun,
  step: UndoStep,
  parts: UndoParts,
): Promise<UndoneStep> {
  const { broker, store, patienceMs, askPerson, signal } = parts;
  const { call, inverse } = step;
  if (inverse === undefined) throw new TypeError('a step that is ready has an inverse');
  let isBegun = false;
  const patience = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const outcome = await broker
    .handle({
      // The same call of the same run has the same identity: a later decision applies, and the person is not asked again.
      run: openRunContext(`undo-${runId}`, caller, profile, '', { ledger, usesDecisionsOnce: true }),
      number: call,
      tool: inverse.found.tool,
      serverPath: inverse.found.server.path,
      exportName: inverse.found.tool.name,
      input: inverse.arguments,
      signal: AbortSignal.any([signal, patience.signal]),
      delegate: {
        isReplayed: false,
        locate: async () => [],
        remainingMs: () => Number.POSITIVE_INFINITY,
        onPending: (approval) => {
          timer = setTimeout(() => patience.abort(), patienceMs);
          askPerson?.([approval], signal).catch(() => {});
        },
        onDecided: () => clearTimeout(timer),
        onSending: async () => {
          isBegun = await store.begin(runId, call);
          if (!isBegun)
            throw new HostError('conflict', `call ${call} of run ${runId} is being undone elsewhere, or was`);
        },
      },
    })
    .finally(() => clearTimeout(timer));
  return { step, ...(await recorded(outcome, isBegun, { store, runId, call })) };
}

const SAID_NO: ReadonlySet<CallVerdict> = new Set(['tool_error', 'refused', 'unauthorized', 'limited']);

async function recorded(
  outcome: BrokerOutcome,
  isBegun: boolean,
  { store, runId, call }: { readonly store: UndoStore; readonly runId: string; readonly call: number },
): Promise<Omit<UndoneStep, 'step'>> {
  if (outcome.ok) {
    await store.end(runId, call, 'undone');
    return { outcome: 'undone' };
  }
  const { message } = outcome.error;
  if (!isBegun) return { outcome: outcome.verdict === 'pending' ? 'waits' : 'refused', message };
  if (outcome.verdict === 'not_sent') {
    await store.release(runId, call);
    return { outcome: 'failed', message };
  }
  // The server itself refused: nothing was undone, and the call can be retried.
  if (outcome.verdict !== undefined && SAID_NO.has(outcome.verdict)) {
    await store.end(runId, call, 'failed');
    return { outcome: 'failed', message };
  }
  return { outcome: 'unknown', message };
}
