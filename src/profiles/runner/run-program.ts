import { isHostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import type { Session } from '../../host/session.js';
import type { CallCircumstances } from '../profile.js';
import type { RunnerRequest } from './contract.js';
import { type Envelope, printedBy, type Ticket } from './envelope.js';
import { hostError } from './errors.js';
import type { RunnerSettings } from './settings.js';

export interface RunnerAnswer {
  readonly envelope: Envelope;
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
  let envelope: Envelope | undefined;
  try {
    const summary = await session.runProcess({
      ...circumstances,
      ...{ runId: ticket.runId, traceId: ticket.traceId, language, source: code, limits },
      ...{ maxToolCalls, approvalWaitMs, hidesPersonalData },
      respond: (ended) => {
        envelope = ticket.ended(ended, maxLineBytes);
        return envelope as unknown as JsonValue;
      },
    });
    const printed = printedBy(summary, settings.maxPrintedBytes);
    return { envelope: envelope ?? ticket.ended(summary, maxLineBytes), printed, isRefused: false };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { envelope: ticket.refused(hostError(error)), printed: '', isRefused: true };
  }
}
