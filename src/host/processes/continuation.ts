import type { CallerId, GuestCall } from '../../domain/run.js';
import type { AnsweredCall } from '../recordings/recorded-call.js';
import type { SuspendedRuns } from '../runs/suspended-runs.js';

/** The run that a program continues, by what its servers answered. */
export interface ContinuedProgram {
  readonly caller: CallerId;
  readonly profile: string;
  readonly codeDigest: string;
  readonly source: string;
  readonly language: string;
}

/**
 * The calls of the last run of a program that ended before a call which a person had to decide about. The next run of the
 * same program is given these answers again: no call is made twice, whether it needed a person or not.
 */
export class Continuation {
  readonly runId: string;
  /** Random numbers are those of the earlier run, so that its calls are the same. */
  readonly seed: number | undefined;
  readonly #left: AnsweredCall[];
  /** Calls that were answered from the record. */
  answered = 0;

  constructor(runId: string, seed: number | undefined, calls: readonly AnsweredCall[]) {
    this.runId = runId;
    this.seed = seed;
    this.#left = calls.filter(({ isSent }) => isSent === true);
  }

  /** What was sent then: the same tool, as it was, with the same arguments. Each is taken once. */
  take({ target, argumentsJson }: GuestCall, toolDigest: string): SentCall | undefined {
    const at = this.#left.findIndex(
      (call) => call.target === target && call.argumentsJson === argumentsJson && call.toolDigest === toolDigest,
    );
    const [sent] = at < 0 ? [] : this.#left.splice(at, 1);
    if (sent !== undefined) this.answered++;
    return sent;
  }

  /** It was not used. */
  giveBack(sent: SentCall): void {
    this.#left.unshift(sent);
    this.answered--;
  }
}

/** A call that reached its server. Without a reply the program was over before: what became of the call is unknown. */
export type SentCall = AnsweredCall;

/** Undefined where the program starts from the beginning, and where the store cannot be read. */
export async function continuationOf(
  suspended: Pick<SuspendedRuns, 'lastDecided'>,
  { source, language, ...owner }: ContinuedProgram,
): Promise<Continuation | undefined> {
  const recording = await suspended.lastDecided(owner, source, { language }).catch(() => undefined);
  if (recording === undefined || !('program' in recording) || recording.program.language !== language) return undefined;
  return new Continuation(recording.runId, recording.program.seed, recording.calls);
}
