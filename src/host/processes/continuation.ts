import type { CallerId, GuestCall } from '../../domain/run.js';
import type { AnsweredCall } from '../recordings/recorded-call.js';
import type { SuspendedRuns } from '../runs/suspended-runs.js';

/** The earlier run that a program continues, with the answers of its servers. */
export interface ContinuedProgram {
  readonly caller: CallerId;
  readonly profile: string;
  readonly codeDigest: string;
  readonly source: string;
  readonly language: string;
}

/**
 * The calls of a program's last run, which ended before a call that needed approval. The next run of the same program gets these
 * answers again, so no call is made twice, whether it needed approval or not.
 */
export class Continuation {
  readonly runId: string;
  /** The earlier run's random seed, so that the calls are the same. */
  readonly seed: number | undefined;
  readonly #left: AnsweredCall[];
  /** Calls answered from the record. */
  answered = 0;

  constructor(runId: string, seed: number | undefined, calls: readonly AnsweredCall[]) {
    this.runId = runId;
    this.seed = seed;
    this.#left = calls.filter(({ isSent }) => isSent === true);
  }

  /** The recorded call to the same unchanged tool with the same arguments. Each record is taken once. */
  take({ target, argumentsJson }: GuestCall, toolDigest: string): SentCall | undefined {
    const at = this.#left.findIndex(
      (call) => call.target === target && call.argumentsJson === argumentsJson && call.toolDigest === toolDigest,
    );
    const [sent] = at < 0 ? [] : this.#left.splice(at, 1);
    if (sent !== undefined) this.answered++;
    return sent;
  }

  /** The record was not used. */
  giveBack(sent: SentCall): void {
    this.#left.unshift(sent);
    this.answered--;
  }
}

/** A call that reached its server. Without a reply the program ended first, and the outcome is unknown. */
export type SentCall = AnsweredCall;

/** Undefined if the program starts from the beginning, or if the store cannot be read. */
export async function continuationOf(
  suspended: Pick<SuspendedRuns, 'lastDecided'>,
  { source, language, ...owner }: ContinuedProgram,
): Promise<Continuation | undefined> {
  const recording = await suspended.lastDecided(owner, source, { language }).catch(() => undefined);
  if (recording === undefined || !('program' in recording) || recording.program.language !== language) return undefined;
  return new Continuation(recording.runId, recording.program.seed, recording.calls);
}
