import { setTimeout } from 'node:timers/promises';
import { HostError } from '../../domain/errors.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { CallFailure } from '../calls/call-failure.js';
import { isEnded, type RunAnswer } from './run-types.js';

/** Attempts including the first. Nothing raises it: a loop that a model drives must end. */
export const MAX_ATTEMPTS = 3;

/** Errors that a retry may fix. */
export const RETRYABLE_TYPES = ['Timeout', 'RateLimit', 'TransientNetwork'] as const;

export type Attempt<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly error: AttemptError };

/** As in the envelopes of profile `runner`. `retryable` decides; without it, the type does. */
export interface AttemptError {
  readonly type: string;
  readonly message: string;
  readonly retryable?: boolean;
  /** How long the failing server asks to wait. */
  readonly retryAfterMs?: number;
}

export interface SelfCorrectionOptions<Data> {
  /** Asks the model for a program. The task is extended with the previous errors. */
  readonly generate: (task: string, attempt: number) => Promise<string>;
  readonly run: (code: string, attempt: number) => Promise<Attempt<Data>>;
  /** Aborts the waits between attempts, and then the loop. */
  readonly signal?: AbortSignal;
}

export interface Handoff {
  readonly error: 'handoff_required';
}

const MAX_MESSAGE_CHARACTERS = 2_000;
/** The longest wait between two attempts. If a server asks for a longer wait, the task is handed off. */
const MAX_WAIT_MS = 60_000;

/** Lets a model write a program until it works, at most three times, and hands off to a person otherwise. */
export async function runWithSelfCorrection<Data>(
  task: string,
  { generate, run, signal }: SelfCorrectionOptions<Data>,
): Promise<Data | Handoff> {
  if (typeof generate !== 'function' || typeof run !== 'function')
    throw new HostError('bad_input', 'runWithSelfCorrection takes a task and the functions generate and run');
  let told = task;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const ended = checked(await run(await generate(told, attempt), attempt));
    if (ended.ok) return ended.data;
    const { retryAfterMs = 0 } = ended.error;
    if (!isRetryable(ended.error) || retryAfterMs > MAX_WAIT_MS) break;
    told += `\n\nPrevious error (attempt ${attempt}): ${ended.error.message.slice(0, MAX_MESSAGE_CHARACTERS)}`;
    if (attempt < MAX_ATTEMPTS) await waited(retryAfterMs, signal);
    if (signal?.aborted === true) break;
  }
  return { error: 'handoff_required' };
}

/** Throws `bad_input` if `run` gave no attempt. */
function checked<Data>(attempt: Attempt<Data>): Attempt<Data> {
  const { ok, error } = (attempt ?? {}) as { readonly ok?: unknown; readonly error?: Partial<AttemptError> };
  if (ok === true || (ok === false && typeof error?.type === 'string' && typeof error.message === 'string'))
    return attempt;
  throw new HostError(
    'bad_input',
    'runWithSelfCorrection: run must give { ok: true, data } or { ok: false, error: { type, message } }',
  );
}

async function waited(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  if (waitMs > 0) await setTimeout(waitMs, undefined, omitUndefined({ signal })).catch(() => {});
}

/**
 * The outcome of a run as an attempt. A suspended or detached run is neither a success nor a failure. Throws `bad_input` for
 * anything but a result of `run`.
 */
export function attemptOf(result: { readonly answer: RunAnswer }): Attempt<unknown> {
  const { answer } = result ?? {};
  if (answer === undefined) throw new HostError('bad_input', 'attemptOf takes a result of host.run, not of execute');
  if (!isEnded(answer)) {
    const message = answer.state === 'suspended' ? 'the run waits for a person' : 'the run is still in progress';
    return { ok: false, error: { type: 'Pending', message, retryable: false } };
  }
  const { outcome } = answer.summary;
  if (outcome.status === 'completed') return { ok: true, data: JSON.parse(outcome.resultJson) as unknown };
  const { failure } = outcome;
  const { message } = failure;
  if (failure.limit === 'timeout') return { ok: false, error: { type: 'Timeout', message, retryable: true } };
  const call = answer.summary.failures.get(message);
  const retried = typeOf(call);
  const wait = omitUndefined({ retryAfterMs: call?.retryAfterMs });
  // The program's own class may be called Timeout.
  const error = { type: retried ?? failure.errorClass ?? failure.name, message, retryable: retried !== undefined };
  return { ok: false, error: { ...error, ...wait } };
}

/** The error type of an uncaught failed call, if the same call may succeed later. */
function typeOf(call: CallFailure | undefined): AttemptError['type'] | undefined {
  if (call?.isSafeToRepeat === true || call?.verdict === 'not_sent') return 'TransientNetwork';
  return call?.verdict === 'limited' ? 'RateLimit' : undefined;
}

function isRetryable({ type, retryable }: AttemptError): boolean {
  return retryable ?? RETRYABLE_TYPES.some((each) => each === type);
}
