import { type HostError, isHostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import type { Session } from '../../host/session.js';
import type { CallCircumstances } from '../profile.js';
import type { RunnerRequest } from './contract.js';
import { type Answer, printedBy, type Ticket } from './envelope.js';
import { hostError } from './errors.js';
import type { RunnerSettings } from './settings.js';

export interface RunnerAnswer extends Answer {
  /** What the program printed, clean and cut. */
  readonly printed: string;
  /** Nothing was run. */
  readonly isRefused: boolean;
}

/** Runs a program to its end. What the host could not do is said in the envelope too; only a mistake of ours is thrown. */
export async function runProgram(
  session: Session,
  ticket: Ticket,
  language: ProcessLanguage,
  { code, limits }: RunnerRequest,
  settings: RunnerSettings,
  circumstances: Omit<CallCircumstances, 'log'>,
): Promise<RunnerAnswer> {
  const { maxToolCalls, approvalWaitMs, hidesPersonalData, maxLineBytes } = settings;
  let answer: Answer | undefined;
  try {
    const summary = await session.runProcess({
      ...circumstances,
      ...{ runId: ticket.runId, language, source: code, limits },
      ...{ maxToolCalls, approvalWaitMs, hidesPersonalData },
      respond: (ended) => {
        answer = ticket.ended(ended, maxLineBytes);
        return answer.envelope as unknown as JsonValue;
      },
    });
    const printed = printedBy(summary, settings.maxPrintedBytes);
    return { ...(answer ?? ticket.ended(summary, maxLineBytes)), printed, isRefused: false };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return refusalOf(ticket, error);
  }
}

/** Nothing was run, and the envelope says why. */
export function refusalOf(ticket: Ticket, error: HostError): RunnerAnswer {
  return { ...ticket.refused(hostError(error)), printed: '', isRefused: true };
}
