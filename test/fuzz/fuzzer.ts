import { Random } from './random.js';

/**
 * A fuzzer makes hostile input out of random numbers and throws where the program does something that it must not. The input
 * follows from the seed alone, so `npm run fuzz -- NAME --seed SEED` makes the same case again.
 */
export interface Fuzzer extends AsyncDisposable {
  /** One case. `note` keeps what it is about, to be printed if it fails. */
  attempt(random: Random, note: (what: unknown) => void): Promise<void> | void;
}

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
}

/** Cases for so long, at least one. Throws with the seed of the case that failed. Returns how many there were. */
export async function fuzz(name: string, fuzzer: Fuzzer, { seconds, seed }: FuzzOptions): Promise<number> {
  const until = Date.now() + seconds * 1_000;
  for (let count = 0; ; count++) {
    const own = (seed + count) >>> 0;
    let noted: unknown;
    try {
      await fuzzer.attempt(new Random(own), (what) => {
        noted = what;
      });
    } catch (error) {
      const shown = JSON.stringify(noted)?.slice(0, 4_000) ?? 'nothing';
      throw new Error(`npm run fuzz -- ${name} --seed ${own}\nthe case: ${shown}\n${String(error)}`, { cause: error });
    }
    if (Date.now() >= until) return count + 1;
    // So that timers and sockets of the program under test get their turn.
    if (count % 64 === 63) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** For what has nothing to close. */
export function pure(attempt: Fuzzer['attempt']): Fuzzer {
  return { attempt, [Symbol.asyncDispose]: async () => {} };
}

/** Throws unless the error is one that the program is meant to throw. */
export function expectKnown(error: unknown, ...known: (new (...args: never[]) => Error)[]): void {
  if (!known.some((each) => error instanceof each)) throw error;
}
