import type { RunAnswer } from './run.js';

/** Attempts in all, the first among them. Nothing raises it: a loop that a model drives must end. */
export const MAX_ATTEMPTS = 3;

/** What may go better the next time. Everything else is for somebody else to look at. */
export const RETRYABLE_TYPES = ['Timeout', 'RateLimit', 'TransientNetwork'] as const;

export type Attempt<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly error: AttemptError };

/** As the envelopes of profile `runner` have it. `retryable` decides; without it, the type does. */
export interface AttemptError {
  readonly type: string;
  readonly message: string;
  readonly retryable?: boolean;
}

export interface SelfCorrectionOptions<Data> {
  /** Asks the model for a program. The task grows by what went wrong before. */
  readonly generate: (task: string, attempt: number) => Promise<string>;
  readonly run: (code: string, attempt: number) => Promise<Attempt<Data>>;
}

export interface Handoff {
  readonly error: 'handoff_required';
}

const MAX_MESSAGE_CHARACTERS = 2_000;

/** Lets a model write a program until it works, at most three times, and hands over to a person otherwise. */
export async function runWithSelfCorrection<Data>(
  task: string,
  { generate, run }: SelfCorrectionOptions<Data>,
): Promise<Data | Handoff> {
  let told = task;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const ended = await run(await generate(told, attempt), attempt);
    if (ended.ok) return ended.data;
    if (!isRetryable(ended.error)) break;
    told += `\n\nPrevious error (attempt ${attempt}): ${ended.error.message.slice(0, MAX_MESSAGE_CHARACTERS)}`;
  }
  return { error: 'handoff_required' };
}

/** What a run came to, in these words. One that sleeps or goes on is a person's or a later program's matter. */
export function attemptOf({ answer }: { readonly answer: RunAnswer }): Attempt<unknown> {
  if (answer.state !== 'finished') {
    const message = answer.state === 'asleep' ? 'the run waits for a person' : 'the run goes on';
    return { ok: false, error: { type: 'Pending', message } };
  }
  const { outcome } = answer.summary;
  if (outcome.status === 'completed') return { ok: true, data: JSON.parse(outcome.resultJson) as unknown };
  const { failure } = outcome;
  if (failure.limit === 'timeout') return { ok: false, error: { type: 'Timeout', message: failure.message } };
  return { ok: false, error: { type: failure.errorClass ?? failure.name, message: failure.message } };
}

function isRetryable({ type, retryable }: AttemptError): boolean {
  return retryable ?? RETRYABLE_TYPES.some((each) => each === type);
}
