import { DATABASE_FAULTS, HOST_FAULTS } from './fault-kinds.js';

/** One thing that goes wrong for a while. `host` is a place in the list of hosts; without it, it is the database. */
export interface PlannedFault {
  readonly kind: string;
  readonly host?: number;
  readonly durationMs: number;
  /** How long nothing new happens after it has begun. Where this is shorter than it lasts, the next one comes on top of it. */
  readonly nextAfterMs: number;
}

/** From shorter than a lease to several of them. */
const DURATIONS_MS = [200, 1_000, 3_000, 8_000];
const GAPS_MS = [300, 1_500, 4_000];
/** Of ten faults, so many are the database's: all hosts have those at once. */
const OF_DATABASE = 0.35;

/** The same faults for the same seed, without end. */
export function* faultSchedule(seed: number, hosts: number): Generator<PlannedFault> {
  const random = generator(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  for (;;) {
    const isOfDatabase = random() < OF_DATABASE;
    const kind = pick(Object.keys(isOfDatabase ? DATABASE_FAULTS : HOST_FAULTS));
    const durationMs = pick(DURATIONS_MS);
    // Every third comes while the one before it lasts.
    const nextAfterMs = random() < 1 / 3 ? durationMs / 2 : durationMs + pick(GAPS_MS);
    const host = Math.floor(random() * hosts);
    yield { kind, durationMs, nextAfterMs, ...(isOfDatabase ? {} : { host }) };
  }
}

/** Mulberry32: a short generator of numbers from 0 to 1, the same on every machine. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
