/** A server that asks one caller more questions at once is out of control. */
const MAX_PER_CALLER = 16;
/** The limit for all callers together, because questions are held in memory. One caller cannot fill it. */
const MAX_CHARACTERS = 128_000_000;
const MAX_CHARACTERS_PER_CALLER = 16_000_000;

interface Open {
  readonly count: number;
  readonly characters: number;
}

/** The pending questions of one server. One caller's questions never keep another caller from being asked. */
export class OpenQuestions {
  readonly #ofCaller = new Map<string, Open>();
  #characters = 0;

  /** The function to call when the question is answered, or the reason why it is not asked. */
  enter(caller: string, characters: number): (() => void) | string {
    const { count, characters: before } = this.#ofCaller.get(caller) ?? NONE;
    if (count >= MAX_PER_CALLER) return `at most ${MAX_PER_CALLER} questions are answered at a time`;
    if (before + characters > MAX_CHARACTERS_PER_CALLER || this.#characters + characters > MAX_CHARACTERS)
      return 'the questions that wait for an answer are too large together; ask again when one is answered';
    this.#change(caller, 1, characters);
    return () => this.#change(caller, -1, -characters);
  }

  #change(caller: string, count: number, characters: number): void {
    const before = this.#ofCaller.get(caller) ?? NONE;
    const after = { count: before.count + count, characters: before.characters + characters };
    if (after.count === 0) this.#ofCaller.delete(caller);
    else this.#ofCaller.set(caller, after);
    this.#characters += characters;
  }
}

const NONE: Open = { count: 0, characters: 0 };
