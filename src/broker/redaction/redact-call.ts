import type { JsonObject } from '../../domain/json.js';
import type { Question, Respondent } from '../../domain/question.js';
import type { GuestError } from '../../domain/run.js';
import type { CallProgress } from '../../domain/upstream.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import type { BrokerCall, BrokerOutcome } from '../call.js';
import type { RedactionCounts, Redactor } from './redactor.js';

/** Redacts the outcome of a call: its answer, its error and its warnings. */
export async function redactOutcome(redactor: Redactor, outcome: BrokerOutcome): Promise<BrokerOutcome> {
  const redactions: RedactionCounts = {};
  const { approval } = outcome;
  const clean = await redactRunOutcome(redactor, outcome, redactions);
  const isUntouched = Object.keys(redactions).length === 0;
  if (isUntouched && approval === undefined) return clean;
  return {
    ...clean,
    ...omitUndefined({ approval: ifDefined(approval, (approval) => redactor.bulk(approval)) }),
    ...(isUntouched ? {} : { redactions }),
  };
}

async function redactRunOutcome(
  redactor: Redactor,
  outcome: BrokerOutcome,
  counts: RedactionCounts,
): Promise<BrokerOutcome> {
  if (outcome.ok) {
    const warnings = outcome.warnings.map((warning) => redactor.text(warning, counts));
    return { ok: true, reply: await redactor.replyInSlices(outcome.reply, counts), warnings };
  }
  // The error often repeats the answer, so a redaction in both is counted once.
  const error = await redactError(redactor, outcome.error, outcome.reply === undefined ? counts : {});
  return outcome.reply === undefined
    ? { ...outcome, error }
    : { ...outcome, error, reply: await redactor.replyInSlices(outcome.reply, counts) };
}

async function redactError(redactor: Redactor, error: GuestError, counts: RedactionCounts): Promise<GuestError> {
  return {
    ...error,
    message: await redactor.textInSlices(error.message, counts),
    hint: redactor.text(error.hint, counts),
    ...omitUndefined({ fields: ifDefined(error.fields, (fields) => redactor.value(fields as JsonObject, counts)) }),
  };
}

/** The same call, with its server's progress messages and questions redacted too. */
export function redactInFlight(redactor: Redactor, call: BrokerCall): BrokerCall {
  const { onProgress, respondent } = call;
  if (onProgress === undefined && respondent === undefined) return call;
  return {
    ...call,
    ...omitUndefined({
      onProgress: ifDefined(onProgress, (onProgress) => redactProgress(redactor, onProgress)),
      respondent: ifDefined(respondent, (respondent) => redactQuestions(redactor, respondent)),
    }),
  };
}

function redactProgress(redactor: Redactor, onProgress: (progress: CallProgress) => void) {
  return ({ message, ...progress }: CallProgress): void =>
    onProgress(message === undefined ? progress : { ...progress, message: redactor.text(message) });
}

/** Redacts what servers ask the user or the model. */
function redactQuestions(redactor: Redactor, respondent: Respondent): Respondent {
  const { key, caller, capabilities } = respondent;
  const clean = (question: Question) => ({ ...question, params: redactor.value(question.params) });
  return { key, caller, capabilities, answer: (question) => respondent.answer(clean(question)) };
}
