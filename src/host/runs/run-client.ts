import type { Approval } from '../../domain/approval.js';
import type { Respondent } from '../../domain/question.js';
import type { OnStep } from '../../domain/step.js';

/** Asks a person through the client. Resolves when all are decided or the client has given up. */
export type AskPerson = (approvals: readonly Approval[], signal: AbortSignal) => Promise<void>;

/**
 * The client that waits for a run, and the ways to reach it and its person. A request carries it, and the run passes it on as one
 * object to everything that waits for approvals, makes calls or runs stored scripts. It is not stored with a suspended run: the
 * client that resumes the run takes its place.
 */
export interface RunClient {
  /** The client's approximate timeout. A run that can continue without its client is answered with its id before that. */
  readonly answerWithinMs?: number | undefined;
  /** Asks the person in front of the client, if the client can. */
  readonly askPerson?: AskPerson | undefined;
  /**
   * The person is asked in the response: a program that needs approval is suspended at once. `askPerson` is for programs that
   * cannot be suspended.
   */
  readonly suspendsToAsk?: boolean | undefined;
  /** Answers the questions that upstreams ask during its calls. */
  readonly respondent?: Respondent | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Called with slow steps before the program runs: servers that start, a compiler. */
  readonly onStep?: OnStep | undefined;
  /** Called with news for the client besides the answer, for contracts whose answers have no field for it. */
  readonly onNotice?: ((text: string) => void) | undefined;
}
