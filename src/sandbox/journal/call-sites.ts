import type { CallNumber, SourcePosition } from '../../domain/run.js';

/** A worker that is busy with other programs replies later; nothing waits for it. */
const ANSWER_WITHIN_MS = 500;

interface Question {
  readonly answer: Promise<readonly SourcePosition[]>;
  settle(places: readonly SourcePosition[]): void;
}

/**
 * The calls of a program whose source position was requested from one worker. Positions only help people, so a missing answer is
 * acceptable.
 */
export class CallSites {
  readonly #asked = new Map<CallNumber, Question>();

  /** Asks once per call at a time. Resolves with an empty list if the position does not arrive in time. */
  ask(call: CallNumber, send: () => void): Promise<readonly SourcePosition[]> {
    const known = this.#asked.get(call);
    if (known !== undefined) return known.answer;
    let settle!: Question['settle'];
    const answer = new Promise<readonly SourcePosition[]>((resolve) => {
      const timer = setTimeout(() => resolve([]), ANSWER_WITHIN_MS);
      settle = (places) => {
        clearTimeout(timer);
        resolve(places);
      };
    });
    this.#asked.set(call, { answer, settle });
    send();
    return answer;
  }

  /** Returns whether the position was requested. */
  told(call: CallNumber, places: readonly SourcePosition[]): boolean {
    const question = this.#asked.get(call);
    this.#asked.delete(call);
    question?.settle(places);
    return question !== undefined;
  }
}
