import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';

/** Further callers are not counted. */
const MAX_CALLERS = 200;
const MAX_SERVERS = 500;
/** When one server reaches this many runs, all counts of its caller are halved, so that recent use counts more. */
const MAX_RUNS = 1_000;

type Counts = Map<string, number>;

/**
 * In how many runs each caller has used each server (by path), for the order of servers in the briefing. The order stays fixed
 * while the process runs: clients keep the text for a whole session.
 */
export class UsedServers {
  readonly #before: ReadonlyMap<CallerId, ReadonlyMap<string, number>>;
  /** Counts since the last write. */
  readonly #fresh = new Map<CallerId, Counts>();

  constructor(stored: JsonValue | undefined) {
    this.#before = readCounts(stored);
  }

  /** One run of this caller has used these servers. */
  note(caller: CallerId, paths: Iterable<string>): void {
    for (const path of paths) addTo(this.#fresh, caller, path, 1);
  }

  before(caller: CallerId): ReadonlyMap<string, number> | undefined {
    return this.#before.get(caller);
  }

  /** The counts on disk plus the new ones, which are then no longer fresh. */
  addedTo(stored: JsonValue | undefined): JsonObject {
    const all = readCounts(stored);
    for (const [caller, counts] of this.#fresh) {
      for (const [path, runs] of counts) addTo(all, caller, path, runs);
      this.#fresh.delete(caller);
    }
    return Object.fromEntries([...all].map(([caller, counts]) => [caller, Object.fromEntries(counts)]));
  }
}

function addTo(all: Map<CallerId, Counts>, caller: CallerId, path: string, runs: number): void {
  const counts = all.get(caller) ?? new Map<string, number>();
  if (!all.has(caller)) {
    if (all.size >= MAX_CALLERS) return;
    all.set(caller, counts);
  }
  if (!counts.has(path) && counts.size >= MAX_SERVERS) return;
  const sum = (counts.get(path) ?? 0) + runs;
  counts.set(path, sum);
  if (sum >= MAX_RUNS) for (const [each, count] of counts) counts.set(each, Math.ceil(count / 2));
}

/** Reads an untrusted file. Invalid counts are left out. */
function readCounts(stored: JsonValue | undefined): Map<CallerId, Counts> {
  const all = new Map<CallerId, Counts>();
  if (!isJsonObject(stored)) return all;
  for (const [caller, counts] of Object.entries(stored)) {
    if (!isJsonObject(counts)) continue;
    for (const [path, runs] of Object.entries(counts))
      if (typeof runs === 'number' && runs > 0 && runs <= MAX_RUNS) addTo(all, caller as CallerId, path, runs);
  }
  return all;
}
