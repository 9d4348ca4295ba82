import { type Audience, QUESTION_KINDS, type QuestionKind, type Respondent } from '../../domain/question.js';

/** The one client there is over stdio. Servers are connected when it is known, and told what it answers. */
export class AgentClient implements Audience {
  #kinds: readonly QuestionKind[] = [];
  #respondent: Respondent | undefined;

  /** A client that said once for all what it can be asked. */
  attach(respondent: Respondent, kinds: readonly QuestionKind[]): void {
    this.#respondent = respondent;
    this.#kinds = kinds;
  }

  /** One of the newer era says it with each call, and is asked in the course of calls only. */
  attachModern(): void {
    this.#kinds = QUESTION_KINDS;
  }

  detach(): void {
    this.#respondent = undefined;
    this.#kinds = [];
  }

  announced(): readonly QuestionKind[] {
    return this.#kinds;
  }

  onlyClient(): Respondent | undefined {
    return this.#respondent;
  }
}

/** Over HTTP clients come and go, and each can do something else: whatever there is may be asked. */
export const ANY_CLIENT: Audience = { announced: () => QUESTION_KINDS, onlyClient: () => undefined };
