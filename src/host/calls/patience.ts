import type { RunClient } from '../runs/run.js';

/** How long a person who is asked through the client may take, unless the client gives up first. */
const ASKED_PATIENCE_MS = 5 * 60_000;
/** Reserved before the client's timeout, to suspend the run and to respond. */
const ANSWER_MARGIN_MS = 2_000;

/** How long calls of this client wait for a decision: `otherwiseMs` if its user cannot be asked. */
export function patienceOf(
  { askPerson, answerWithinMs = ASKED_PATIENCE_MS }: Pick<RunClient, 'askPerson' | 'answerWithinMs'>,
  otherwiseMs: number,
): number {
  if (askPerson === undefined) return otherwiseMs;
  return Math.min(ASKED_PATIENCE_MS, Math.max(0, answerWithinMs - ANSWER_MARGIN_MS));
}
