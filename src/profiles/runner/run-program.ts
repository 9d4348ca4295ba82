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
  /** What the program printed, clean and cut. */
  readonly printed: string;
  /** The same in as little as goes beside an answer that a model reads. */
  readonly excerpt: string;
  /** What its author should know besides, a line each. */
  readonly notes: readonly string[];
  /** How the program ended, and its calls; absent where nothing was run. */
  readonly ended?: Pick<ProcessRunSummary, 'outcome' | 'trace'>;
  /** Of a program that failed, where it has one. */
  readonly traceback?: string;
  /** Why nothing was run. */
  readonly refusal?: HostError;
}

const PERSONAL_KINDS: ReadonlySet<string> = new Set(['email', 'phone', 'card', 'iban', 'ssn']);

/** Runs a program to its end. What the host could not do is said in the envelope too; only a mistake of ours is thrown. */
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
      ...{ runId: ticket.runId, traceId: ticket.traceId, language, source: code, limits },
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

/** The same for whatever somebody sends as a request. */
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
