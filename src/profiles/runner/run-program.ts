import { type HostError, isHostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import type { ProcessRunSummary } from '../../host/processes/process-run.js';
import type { Session } from '../../host/session.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { CallContext } from '../profile.js';
import { runNotes } from '../run-notes.js';
import { parseRunnerRequest, type RunnerRequest } from './contract.js';
import { type Answer, digestOf, type Ticket } from './envelope.js';
import { hostError } from './errors.js';
import { excerptOf, printedBy } from './printed.js';
import { excerptCharacters, type RunnerSettings } from './settings.js';

export interface RunnerAnswer extends Answer {
  /** The program's output, redacted and cut. */
  readonly printed: string;
  /** The same, cut further, beside an answer that a model reads. */
  readonly excerpt: string;
  /** Notes for the author, one per line. */
  readonly notes: readonly string[];
  /** The program's outcome and calls; absent if nothing was run. */
  readonly ended?: Pick<ProcessRunSummary, 'outcome' | 'trace'>;
  /** The traceback of a failed program, if there is one. */
  readonly traceback?: string;
  /** Why nothing was run. */
  readonly refusal?: HostError;
}

const PERSONAL_KINDS: ReadonlySet<string> = new Set(['email', 'phone', 'card', 'iban', 'ssn']);

/** Runs a program until it ends. Host failures are reported in the envelope too; only a bug of ours is thrown. */
export async function runProgram(
  session: Session,
  ticket: Ticket,
  language: ProcessLanguage,
  { code, limits }: RunnerRequest,
  settings: RunnerSettings,
  context: Omit<CallContext, 'log'>,
): Promise<RunnerAnswer> {
  const { maxToolCalls, approvalWaitMs, redactsPersonalData, maxLineBytes } = settings;
  let answer: Answer | undefined;
  try {
    const summary = await session.runProcess({
      ...context,
      ...{
        runId: ticket.runId,
        createdAtMs: ticket.createdAtMs,
        traceId: ticket.traceId,
        language,
        source: code,
        limits,
      },
      ...{ maxToolCalls, approvalWaitMs, redacts: { personalData: redactsPersonalData } },
      respond: (ended) => {
        answer = ticket.ended(ended, maxLineBytes);
        return answer.envelope as unknown as JsonValue;
      },
    });
    const { outcome } = summary;
    const traceback = outcome.status === 'failed' ? outcome.failure.stack : undefined;
    return {
      ...(answer ?? ticket.ended(summary, maxLineBytes)),
      printed: printedBy(summary, settings.maxPrintedBytes),
      excerpt: excerptOf(summary, excerptCharacters(settings)),
      notes: runNotes(summary, redactionHint),
      ended: summary,
      ...omitUndefined({ traceback }),
    };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return refusalOf(ticket, error);
  }
}

/** The same for any received request. */
export async function answerRequest(
  session: Session,
  ticket: Ticket,
  language: ProcessLanguage,
  input: unknown,
  settings: RunnerSettings,
  context: Omit<CallContext, 'log'>,
): Promise<RunnerAnswer> {
  const code = isJsonObject(input as JsonValue) ? (input as JsonObject).code : undefined;
  if (typeof code === 'string') ticket.inputDigest = digestOf(code);
  let request: RunnerRequest;
  try {
    request = parseRunnerRequest(input, settings);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return refusalOf(ticket, error);
  }
  return runProgram(session, ticket, language, request, settings, context);
}

function refusalOf(ticket: Ticket, refusal: HostError): RunnerAnswer {
  return { ...ticket.refused(hostError(refusal)), printed: '', excerpt: '', notes: [], refusal };
}

/** Secrets are always redacted here. */
function redactionHint(kinds: readonly string[]): string {
  return kinds.some((kind) => PERSONAL_KINDS.has(kind))
    ? 'The user can turn it off for personal data with runner.redactPersonalData: false.'
    : '';
}
