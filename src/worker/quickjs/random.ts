/** Bytes and words that depend only on a seed, so that a replay draws the same. xorshift64*, as in the engine. */
export class SeededRandom {
  #state: bigint;

  constructor(seed: bigint) {
    // The all-zero state never leaves zero.
    this.#state = BigInt.asUintN(64, seed) || 0x9e3779b97f4a7c15n;
  }

  get state(): bigint {
    return this.#state;
  }

  word(): bigint {
    let state = this.#state;
    state ^= state >> 12n;
    state = BigInt.asUintN(64, state ^ (state << 25n));
    state ^= state >> 27n;
    this.#state = state;
    return BigInt.asUintN(64, state * 0x2545f4914f6cdd1dn);
  }

  byte(): number {
    return Number(this.word() >> 56n);
  }
}
