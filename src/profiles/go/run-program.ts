import { randomUUID } from 'node:crypto';
import { HostError, isHostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { goAdvice, outsideAdvice } from '../../host/processes/go-advice.js';
import type { ProcessRunSummary } from '../../host/processes/process-run.js';
import type { Session } from '../../host/session.js';
import { LinkedAbort } from '../../lib/async/linked-abort.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { CallContext } from '../profile.js';
import { patternsHint, runNotes } from '../run-notes.js';
import { type GoResponse, renderProgram } from './render.js';
import type { GoSettings } from './settings.js';

export interface GoAnswer {
  readonly response: GoResponse;
  /** Notes for the author, one per line. */
  readonly notes: readonly string[];
  /** It did not compile or did not finish. */
  readonly hasFailed: boolean;
}

/** Runs a program until it ends or its client times out. Only the host's own failures are thrown. */
export async function runProgram(
  session: Session,
  code: string,
  { limits, maxToolCalls, approvalWaitMs }: GoSettings,
  { answerWithinMs, signal, ...context }: Omit<CallContext, 'log'>,
): Promise<GoAnswer> {
  const late = new AbortController();
  const timer = answerWithinMs === undefined ? undefined : setTimeout(() => late.abort(), answerWithinMs);
  const stop = new LinkedAbort([signal, late.signal]);
  const respond = (ended: ProcessRunSummary) =>
    renderProgram(ended, late.signal.aborted ? TOO_LATE : adviceFor(ended, code, session));
  try {
    const summary = await session.runProcess({
      ...context,
      ...omitUndefined({ answerWithinMs }),
      ...{
        runId: randomUUID(),
        createdAtMs: Date.now(),
        language: 'go',
        source: code,
        limits,
        maxToolCalls,
        approvalWaitMs,
      },
      signal: stop.signal,
      respond: (ended) => respond(ended) as unknown as JsonValue,
    });
    const response = respond(summary);
    // A client shows an empty answer as nothing, and its model waits for more.
    const silent = response.output === '' ? [PRINTED_NOTHING] : [];
    const notes = [...silent, ...runNotes(summary, patternsHint)];
    return { response, notes, hasFailed: summary.outcome.status === 'failed' };
  } catch (error) {
    // The compiler continues in the meantime, and its work is kept.
    if (late.signal.aborted && isHostError(error, 'cancelled'))
      throw new HostError('sandbox_busy', STILL_COMPILING, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    stop.release();
  }
}

const PRINTED_NOTHING = 'The code ran to its end and printed nothing. Print what you want to know with fmt.Println.';

const STILL_COMPILING =
  'the code is still being compiled (a new Go compiles its standard library first, for a minute or two); nothing has run';

const TOO_LATE = 'Its client waits no longer than this for an answer. Do less in one run.';

function adviceFor({ outcome }: ProcessRunSummary, code: string, session: Session): string {
  if (outcome.status !== 'failed') return '';
  const { kind, message } = outcome.failure;
  if (kind === 'syntax') return goAdvice(code, message, session.tools());
  return kind === 'exception' ? outsideAdvice(message) : '';
}
