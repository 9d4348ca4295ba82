import type { Failure } from '../../domain/run.js';
import type { TypeProblem, TypeVerdict } from '../../domain/type-check.js';
import { typeFailure } from './program-check.js';

/** A call waits no longer than this for the verdict. Then the run continues unchecked. */
const PATIENCE_MS = 2_000;

/** The verdict about a program that is already running. Its first call waits for it. */
export class TypeCheckGate {
  readonly #arrived: Promise<Failure | undefined>;
  #verdict: TypeVerdict | undefined;
  #failure: Failure | undefined;
  #isOpen = false;

  constructor(verdict: Promise<TypeVerdict>) {
    this.#arrived = verdict.then((arrived) => {
      // A late verdict is reported but stops nothing: calls have been sent.
      this.#verdict = arrived;
      if (!this.#isOpen && arrived.isChecked) this.#failure = typeFailure(arrived.problems);
      this.#isOpen = true;
      return this.#failure;
    });
  }

  /** Whether calls need not wait: the verdict has arrived, or its timeout has passed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Why the program must not continue, if so. */
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

  /** The problems found, which may explain why a program failed. Empty without a verdict. */
  get warnings(): readonly TypeProblem[] {
    return this.#verdict?.isChecked === true ? this.#verdict.problems : [];
  }

  /** Why the check did not happen, if the checker was available and failed. */
  get problem(): string | undefined {
    const verdict = this.#verdict;
    return verdict?.isChecked === false && verdict.isFailure === true ? verdict.reason : undefined;
  }
}
