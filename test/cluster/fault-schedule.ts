import { Random } from '../fuzz/random.js';
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
/** A link that is cut for this long makes TCP give up, or not. */
const CUTS_MS = [1_000, 10_000, 60_000];
/** A longer fault does not keep others from coming. */
const MAX_ALONE_MS = 10_000;
const GAPS_MS = [300, 1_500, 4_000];
const SHORT_MS = 800;
const SHORT_GAP_MS = 200;

/** The same faults for the same seed, without end; `only` those of one kind. */
export function* faultSchedule(seed: number, hosts: number, only = ''): Generator<PlannedFault> {
  if (only !== '' && !(only in DATABASE_FAULTS) && !(only in HOST_FAULTS)) throw new RangeError(unknownKind(only));
  for (const fault of anyFaults(new Random(seed), hosts)) if (only === '' || fault.kind === only) yield fault;
}

function* anyFaults(random: Random, hosts: number): Generator<PlannedFault> {
  const lastingUntil = new Map<number | undefined, number>();
  let [nowMs, longUntilMs] = [0, 0];
  for (;;) {
    // All hosts have the faults of the database at once, so they are fewer.
    const isOfDatabase = random.chance(3);
    const kind = random.pick(Object.keys(isOfDatabase ? DATABASE_FAULTS : HOST_FAULTS));
    const drawnMs = random.pick(kind === 'cut off' ? CUTS_MS : DURATIONS_MS);
    // One that is long at a time, so that somebody is always free for the next.
    const durationMs = nowMs < longUntilMs ? Math.min(drawnMs, MAX_ALONE_MS) : drawnMs;
    const aloneMs = Math.min(durationMs, MAX_ALONE_MS);
    // Every third comes while the one before it lasts.
    const nextAfterMs = random.chance(3) ? aloneMs / 2 : aloneMs + random.pick(GAPS_MS);
    const host = isOfDatabase ? undefined : random.below(hosts);
    if ((lastingUntil.get(host) ?? 0) > nowMs) continue;
    yield { kind, durationMs, nextAfterMs, ...(host === undefined ? {} : { host }) };
    lastingUntil.set(host, nowMs + durationMs);
    if (durationMs > MAX_ALONE_MS) longUntilMs = nowMs + durationMs;
    nowMs += nextAfterMs;
  }
}

/** Every kind of fault once, shortly, one after the other, in an order out of the seed. */
export function eachKindOnce(seed: number, hosts: number): PlannedFault[] {
  const random = new Random(seed);
  const short = { durationMs: SHORT_MS, nextAfterMs: SHORT_MS + SHORT_GAP_MS };
  return [
    ...Object.keys(DATABASE_FAULTS).map((kind) => ({ kind, ...short })),
    ...Object.keys(HOST_FAULTS).map((kind) => ({ kind, host: random.below(hosts), ...short })),
  ]
    .map((fault) => [random.next(), fault] as const)
    .sort(([a], [b]) => a - b)
    .map(([, fault]) => fault);
}

function unknownKind(kind: string): string {
  const kinds = new Set([...Object.keys(DATABASE_FAULTS), ...Object.keys(HOST_FAULTS)]);
  return `there is no fault "${kind}"; there are: ${[...kinds].join(', ')}`;
}
