import type { Failure } from '../../domain/run.js';
import type { TypeProblem, TypeVerdict } from '../../domain/type-check.js';
import { typeFailure } from './program-check.js';

/** A call waits no longer for the verdict: the run goes on as if nobody had looked. */
const PATIENCE_MS = 2_000;

/** The verdict about a program that runs already: its first call waits for it. */
export class TypeCheckGate {
  readonly #arrived: Promise<Failure | undefined>;
  #verdict: TypeVerdict | undefined;
  #failure: Failure | undefined;
  #isOpen = false;

  constructor(verdict: Promise<TypeVerdict>) {
    this.#arrived = verdict.then((arrived) => {
      // A verdict that comes late is told, and stops nothing: calls have been sent.
      this.#verdict = arrived;
      if (!this.#isOpen && arrived.isChecked) this.#failure = typeFailure(arrived.problems);
      this.#isOpen = true;
      return this.#failure;
    });
  }

  /** Whether calls need not wait: there is a verdict, or it was waited for long enough. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Why the program must not go on, where it must not. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  async opened(): Promise<void> {
    if (this.#isOpen) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([this.#arrived, late]);
    clearTimeout(timer);
    this.#isOpen = true;
  }

  /** What may explain why a program failed: nothing where it did not stop it before. */
  get warnings(): readonly TypeProblem[] {
    return this.#verdict?.isChecked === true ? this.#verdict.problems : [];
  }

  /** Why nobody has looked, where the checker was there and failed. */
  get problem(): string | undefined {
    const verdict = this.#verdict;
    return verdict?.isChecked === false && verdict.isFailure === true ? verdict.reason : undefined;
  }
}
