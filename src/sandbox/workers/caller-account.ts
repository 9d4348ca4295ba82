import type { CallerQuotas } from '../../domain/quotas.js';
import type { CallerId } from '../../domain/run.js';

/** The share of its caller's memory quota in the host that one program holds. */
export class CallerAccount {
  readonly #quotas: CallerQuotas;
  readonly #caller: CallerId;
  #bytes = 0;

  constructor(quotas: CallerQuotas, caller: CallerId) {
    this.#quotas = quotas;
    this.#caller = caller;
  }

  get maxBytes(): number {
    return this.#quotas.limits.memory;
  }

  /** Returns whether there was room for it. */
  take(bytes: number): boolean {
    const isWithin = this.#quotas.take('memory', this.#caller, bytes);
    if (isWithin) this.#bytes += bytes;
    return isWithin;
  }

  /** Gives back memory that this program took, never memory of the caller's other programs. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#bytes);
    this.#quotas.give('memory', this.#caller, given);
    this.#bytes -= given;
  }

  giveAll(): void {
    this.#quotas.give('memory', this.#caller, this.#bytes);
    this.#bytes = 0;
  }
}
