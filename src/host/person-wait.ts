import type { Approval } from '../domain/approval.js';
import type { CallNumber, CallReply, GuestCall } from '../domain/execution.js';
import type { ProgramTime } from '../domain/process-program.js';
import type { AskPerson, CallHooks } from './execution-options.js';

export interface PersonWaitOptions {
  /** How long people may take from now on; 0 where nobody can be asked. */
  readonly patienceMs: () => number;
  readonly askPerson?: AskPerson | undefined;
}

interface Waiting {
  readonly approval: Approval;
  readonly stop: AbortController;
}

/** Calls made together are shown to a person together. */
const GATHER_MS = 20;

/**
 * What a program that cannot be put away does while people think. Its time stands still as long as all its calls wait for
 * them; when they take too long its calls come to nothing, and it is not waited for a second time.
 */
export class PersonWait {
  readonly #options: PersonWaitOptions;
  readonly #waiting = new Map<CallNumber, Waiting>();
  /** Calls that stand still because of a person whom their server asks. */
  readonly #held = new Set<CallNumber>();
  readonly #asked = new Set<string>();
  readonly #over = new AbortController();
  #open = 0;
  #isImpatient = false;
  #patience: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(options: PersonWaitOptions) {
    this.#options = options;
  }

  /** Answers a call with what `make` comes to. */
  async answer(
    { number }: GuestCall,
    signal: AbortSignal,
    time: ProgramTime,
    make: (hooks: CallHooks) => Promise<CallReply>,
  ): Promise<CallReply> {
    const stop = new AbortController();
    this.#open++;
    this.#reconsider(time);
    try {
      return await make({
        signal: AbortSignal.any([signal, stop.signal]),
        isAgain: false,
        locate: async () => [],
        onPending: (approval) => {
          this.#waiting.set(number, { approval, stop });
          this.#reconsider(time);
          this.#wait();
        },
        onDecided: () => {
          this.#waiting.delete(number);
          this.#reconsider(time);
        },
        onSending: () => {},
        onHeld: (isHeld) => {
          if (isHeld) this.#held.add(number);
          else this.#held.delete(number);
          this.#reconsider(time);
        },
        remainingMs: () => Number.POSITIVE_INFINITY,
      });
    } finally {
      this.#open--;
      this.#waiting.delete(number);
      this.#held.delete(number);
      this.#reconsider(time);
    }
  }

  /** The program has ended: nobody is asked any more. */
  end(): void {
    this.#over.abort();
    clearTimeout(this.#patience);
    clearTimeout(this.#gathering);
  }

  #reconsider(time: ProgramTime): void {
    const still = this.#waiting.size + this.#held.size;
    if (still > 0 && still === this.#open) time.hold();
    else time.spend();
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#patience);
    this.#patience = undefined;
  }

  #wait(): void {
    const patienceMs = this.#isImpatient ? 0 : this.#options.patienceMs();
    if (patienceMs > 0) this.#gathering ??= setTimeout(() => this.#ask(), GATHER_MS);
    this.#patience ??= setTimeout(() => this.#refuse(), patienceMs);
  }

  #ask(): void {
    this.#gathering = undefined;
    const { askPerson } = this.#options;
    const fresh = [...this.#waiting.values()].flatMap(({ approval }) =>
      this.#asked.has(approval.id) ? [] : [approval],
    );
    if (askPerson === undefined || fresh.length === 0) return;
    for (const { id } of fresh) this.#asked.add(id);
    // A client that cannot ask, or whose user closed the question, leaves it to the other ways.
    askPerson(fresh, this.#over.signal).catch(() => {});
  }

  /** Nobody has decided. Calls that a person agreed to are under way and go on. */
  #refuse(): void {
    this.#isImpatient = true;
    this.#patience = undefined;
    for (const { stop } of this.#waiting.values()) stop.abort();
  }
}
