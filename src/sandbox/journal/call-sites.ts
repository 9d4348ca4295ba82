import type { CallNumber, SourcePosition } from '../../domain/run.js';

/** A worker that is busy with other programs replies later; it is not waited for. */
const ANSWER_WITHIN_MS = 500;

interface Question {
  readonly answer: Promise<readonly SourcePosition[]>;
  settle(places: readonly SourcePosition[]): void;
}

/** Which calls of a program one worker was asked the place of. A help for people: no answer is an answer too. */
export class CallSites {
  readonly #asked = new Map<CallNumber, Question>();

  /** Asks once for each call at a time. Resolves with nothing where the place is not told in time. */
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

  /** Whether it was asked for. */
  told(call: CallNumber, places: readonly SourcePosition[]): boolean {
    const question = this.#asked.get(call);
    this.#asked.delete(call);
    question?.settle(places);
    return question !== undefined;
  }
}
