import { hash } from 'node:crypto';
import type { LimitSetting } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { matchesGlob } from '../../lib/text/glob.js';
import type { RateStore, SharedRate } from '../../store/rates.js';
import { fitsAnySpelling, readToolPattern, type ToolPattern } from '../policy/tool-pattern.js';
import { Slots } from './slots.js';
import { TokenBucket } from './token-bucket.js';

export interface LimitedCall {
  readonly tool: Tool;
  readonly serverPath: string;
  readonly caller: string;
}

/** Why a call cannot be made now. */
export interface Busy {
  readonly limit: 'rate' | 'concurrency';
  readonly retryAfterMs: number;
}

export type Admission =
  | { readonly kind: 'entered'; leave(): void }
  | { readonly kind: 'busy'; readonly busy: Busy }
  | { readonly kind: 'cancelled' };

/** Maximum number of separate counters of one limit that counts each caller, server or tool by itself. */
const MAX_COUNTERS = 10_000;
/** A caller that keeps to a rate by its host's clock may be this early by the database's, after statements of unequal length. */
const CLOCK_DIFFERENCE_MS = 50;

/** Rate limits, concurrency limits and timeouts of tools. Every limit that matches a call applies. */
export class CallLimits {
  readonly #limits: readonly Limit[];
  readonly #nowMs: () => number;
  readonly #rates: (() => Promise<RateStore>) | undefined;
  readonly #known = new WeakMap<Tool, Facts>();

  /** @param maxWaitMs how long a call waits for others to end before it is refused */
  constructor(settings: readonly LimitSetting[], options: LimitsOptions = {}) {
    const { nowMs = () => performance.now(), maxWaitMs, rates } = options;
    this.#limits = settings.map((setting) => new Limit(setting, maxWaitMs));
    this.#nowMs = nowMs;
    this.#rates = rates;
  }

  /**
   * Takes one call from every rate that counts it. If one is exhausted, takes none and returns how long to wait. `ofCaller` is a
   * rate that this host has counted already; hosts that share a database count it together too.
   */
  takeRate(call: LimitedCall, ofCaller: () => SharedRate | undefined = () => undefined): Awaitable<Busy | undefined> {
    return this.#rates === undefined ? this.#takeHere(call) : this.#takeShared(call, ofCaller, this.#rates);
  }

  /** Uses the counts of all hosts. Throws if they cannot be reached: a rate that is not counted is not enforced. */
  async #takeShared(
    call: LimitedCall,
    ofCaller: () => SharedRate | undefined,
    rates: () => Promise<RateStore>,
  ): Promise<Busy | undefined> {
    const ofLimits = this.#limitsOf(call).flatMap((limit) => limit.sharedRateOf(call) ?? []);
    const shared = [...ofLimits, ofCaller()].filter((rate) => rate !== undefined);
    if (shared.length === 0) return undefined;
    const store = await rates();
    let retryAfterMs = await store.take(shared);
    if (retryAfterMs > 0 && retryAfterMs <= CLOCK_DIFFERENCE_MS) {
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
      retryAfterMs = await store.take(shared);
    }
    return retryAfterMs > 0 ? { limit: 'rate', retryAfterMs } : undefined;
  }

  #takeHere(call: LimitedCall): Busy | undefined {
    const counters = this.#countersOf(call).filter(({ bucket }) => bucket !== undefined);
    if (counters.length === 0) return undefined;
    const nowMs = this.#nowMs();
    let retryAfterMs = 0;
    for (const { bucket } of counters) retryAfterMs = Math.max(retryAfterMs, bucket?.waitMs(nowMs) ?? 0);
    if (retryAfterMs > 0) return { limit: 'rate', retryAfterMs };
    for (const { bucket } of counters) bucket?.take();
    return undefined;
  }

  /**
   * Takes a concurrency slot; waits for one for a bounded time. Every call enters the limits in the order of the configuration,
   * so that two calls never wait for each other.
   */
  async enter(call: LimitedCall, signal: AbortSignal): Promise<Admission> {
    const entered: (() => void)[] = [];
    const leave = () => {
      for (const each of entered) each();
    };
    for (const { slots } of this.#countersOf(call)) {
      const entry = slots === undefined ? undefined : await slots.enter(signal);
      if (entry === undefined) continue;
      if (entry.kind === 'entered') entered.push(entry.leave);
      else {
        leave();
        if (entry.kind === 'cancelled') return entry;
        return { kind: 'busy', busy: { limit: 'concurrency', retryAfterMs: entry.retryAfterMs } };
      }
    }
    return { kind: 'entered', leave };
  }

  /** Whether a concurrency limit applies to this call. */
  hasPlaces(call: LimitedCall): boolean {
    return this.#limitsOf(call).some(({ setting }) => setting.concurrency !== undefined);
  }

  /** The shortest timeout that a limit sets for this call; `undefined` if only its server's own applies. */
  timeoutMs(call: LimitedCall): number | undefined {
    let shortestMs: number | undefined;
    for (const { setting } of this.#limitsOf(call)) {
      if (setting.timeoutMs !== undefined) shortestMs = Math.min(shortestMs ?? setting.timeoutMs, setting.timeoutMs);
    }
    return shortestMs;
  }

  /** The lowest rate limit that applies to this call, for listings. */
  rateOf(call: LimitedCall): LimitSetting['rate'] {
    const rates = this.#limitsOf(call).flatMap(({ setting }) => setting.rate ?? []);
    const perSecond = ({ calls, perMs }: NonNullable<LimitSetting['rate']>) => calls / perMs;
    return rates.sort((left, right) => perSecond(left) - perSecond(right))[0];
  }

  #countersOf(call: LimitedCall): readonly Counter[] {
    const limits = this.#limitsOf(call);
    if (limits.length === 0) return NONE;
    const nowMs = this.#nowMs();
    return limits.flatMap((limit) => (limit.hasCounter ? [limit.counterOf(call, nowMs)] : []));
  }

  #limitsOf({ tool, serverPath, caller }: LimitedCall): readonly Limit[] {
    if (this.#limits.length === 0) return NONE;
    let facts = this.#known.get(tool);
    if (facts === undefined || facts.serverPath !== serverPath) {
      facts = { serverPath, limits: this.#limits.filter((limit) => limit.fitsTool(tool, serverPath)) };
      this.#known.set(tool, facts);
    }
    const { limits } = facts;
    return limits.length === 0 ? NONE : limits.filter((limit) => limit.fitsCaller(caller));
  }
}

export interface LimitsOptions {
  readonly nowMs?: () => number;
  readonly maxWaitMs?: number;
  /** Counts rates for all hosts together. Absent: each host counts for itself. */
  readonly rates?: (() => Promise<RateStore>) | undefined;
}

const NONE: readonly never[] = [];

interface Facts {
  readonly serverPath: string;
  readonly limits: readonly Limit[];
}

interface Counter {
  readonly bucket?: TokenBucket;
  readonly slots?: Slots;
}

class Limit {
  readonly setting: LimitSetting;
  readonly hasCounter: boolean;
  readonly #patterns: readonly ToolPattern[];
  readonly #maxWaitMs: number | undefined;
  readonly #counters = new Map<string, Counter>();
  #digest: string | undefined;

  constructor(setting: LimitSetting, maxWaitMs: number | undefined) {
    this.setting = setting;
    this.hasCounter = setting.rate !== undefined || setting.concurrency !== undefined;
    this.#maxWaitMs = maxWaitMs;
    this.#patterns = setting.tools.map((text) => {
      const pattern = readToolPattern(text);
      if (pattern === undefined) throw new TypeError(`no tool pattern: ${text}`);
      return pattern;
    });
  }

  fitsTool(tool: Tool, serverPath: string): boolean {
    return this.#patterns.some((pattern) => fitsAnySpelling(pattern, tool, serverPath));
  }

  fitsCaller(caller: string): boolean {
    const { caller: patterns } = this.setting;
    return patterns === undefined || patterns.some((pattern) => matchesGlob(pattern, caller));
  }

  /** Hosts with the same setting share a count, whatever its position in their configuration. */
  sharedRateOf(call: LimitedCall): SharedRate | undefined {
    const { rate } = this.setting;
    if (rate === undefined) return undefined;
    this.#digest ??= hash('sha256', JSON.stringify(this.setting), 'base64url');
    return { key: `${this.#digest} ${this.#keyOf(call)}`, ...rate };
  }

  #keyOf({ tool, caller }: LimitedCall): string {
    const { each } = this.setting;
    const parts: string[] = [];
    if (each.includes('server') || each.includes('tool')) parts.push(tool.serverId);
    if (each.includes('tool')) parts.push(tool.name);
    if (each.includes('caller')) parts.push(caller);
    return parts.length < 2 ? (parts[0] ?? '') : JSON.stringify(parts);
  }

  counterOf(call: LimitedCall, nowMs: number): Counter {
    const key = this.#keyOf(call);
    let counter = this.#counters.get(key);
    if (counter === undefined) {
      if (this.#counters.size >= MAX_COUNTERS) this.#makeRoom(nowMs);
      counter = this.#open(nowMs);
      this.#counters.set(key, counter);
    }
    return counter;
  }

  #open(nowMs: number): Counter {
    const { rate, concurrency } = this.setting;
    return {
      ...omitUndefined({
        bucket: ifDefined(rate, (rate) => new TokenBucket(rate, nowMs)),
        slots: ifDefined(concurrency, (concurrency) => new Slots(concurrency, this.#maxWaitMs)),
      }),
    };
  }

  /** Drops counters that equal new ones. If all are in use, the oldest is dropped, and its caller starts with a new count. */
  #makeRoom(nowMs: number): void {
    for (const [key, { bucket, slots }] of this.#counters) {
      if (bucket?.isFull(nowMs) !== false && slots?.isIdle !== false) this.#counters.delete(key);
    }
    const [oldest] = this.#counters.keys();
    if (this.#counters.size >= MAX_COUNTERS && oldest !== undefined) this.#counters.delete(oldest);
  }
}
