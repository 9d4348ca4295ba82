import type { Approval } from '../../domain/approval.js';
import type { Respondent } from '../../domain/question.js';
import type { OnStep } from '../../domain/step.js';

/** Asks a person through the client. Resolves when all are decided or the client has given up. */
export type AskPerson = (approvals: readonly Approval[], signal: AbortSignal) => Promise<void>;

/**
 * The client that waits for a run, and the ways to reach it and its person. A request carries it, and the run passes it on
 * as one object: to what waits for approvals, to what makes its calls and to the stored scripts that it runs. It is not stored
 * with a suspended run: who resumes the run is its client from then on.
 */
export interface RunClient {
  /** The client gives up about then: a run that can go on without it is answered before with its id. */
  readonly answerWithinMs?: number | undefined;
  /** A way to the person in front of the client, where it has one. */
  readonly askPerson?: AskPerson | undefined;
  /** The person is asked with the answer: a program that waits for one is suspended at once, and `askPerson` is for those that cannot be. */
  readonly suspendsToAsk?: boolean | undefined;
  /** Who answers what servers ask while they work on its calls. */
  readonly respondent?: Respondent | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Told what takes long before the program runs: servers that start, a compiler. */
  readonly onStep?: OnStep | undefined;
  /** Told what the client should know besides the answer, for contracts whose answers have no place for it. */
  readonly onNotice?: ((text: string) => void) | undefined;
}
