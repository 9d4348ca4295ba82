import { type Audience, QUESTION_KINDS, type QuestionKind, type Respondent } from '../../domain/question.js';

/** The only client over stdio. Servers are connected once it is known, and are told which questions it answers. */
export class AgentClient implements Audience {
  #kinds: readonly QuestionKind[] = [];
  #respondent: Respondent | undefined;

  /** A client that has announced once which questions it answers. */
  attach(respondent: Respondent, kinds: readonly QuestionKind[]): void {
    this.#respondent = respondent;
    this.#kinds = kinds;
  }

  /** A client of the newer era announces it with each call, and is asked only during calls. */
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

/** Over HTTP clients come and go with different capabilities, so every kind of question is announced. */
export const ANY_CLIENT: Audience = { announced: () => QUESTION_KINDS, onlyClient: () => undefined };
