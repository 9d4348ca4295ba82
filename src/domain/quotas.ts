import { HostError } from './errors.js';

/** Limits on what one caller may use of every finite resource. The configuration sets them in `quotas`, the same for each caller. */
export interface Quotas {
  /** Runs at the same time: computing, waiting for tools, waiting for a worker. */
  readonly runs: number;
  /**
   * Scripts (`code_execution`) that run at the same time. Each keeps a process until it ends, so further ones wait. If there
   * can be several callers, one place of the pool always stays free for the others, whatever this quota is.
   */
  readonly scripts: number;
  /** Bytes of host memory for open calls of running programs and their answers. */
  readonly memory: number;
  /** Bytes of host memory for results that were too large to return. The oldest are dropped first. */
  readonly results: number;
  /** Ended runs that are kept for later queries. The oldest are dropped first. */
  readonly history: number;
  /** Bytes on disk of suspended runs. */
  readonly suspended: number;
  /** Scripts that programs have saved (`save` of `@codemode/scripts`), until a person removes them. */
  readonly saved: number;
  /** Calls that wait for a person. */
  readonly approvals: number;
  /**
   * MCP sessions over HTTP, of which the longest idle is closed first; also the number of WebSockets, and of requests that
   * listen for news.
   */
  readonly sessions: number;
}

export type QuotaName = keyof Quotas;

const MEBIBYTE = 1024 * 1024;

export const DEFAULT_QUOTAS: Quotas = {
  runs: 1_000,
  scripts: 8,
  memory: 1024 * MEBIBYTE,
  results: 128 * MEBIBYTE,
  history: 2_000,
  suspended: 512 * MEBIBYTE,
  saved: 50,
  approvals: 200,
  sessions: 256,
};

/** The quotas that are counted in bytes. */
export const QUOTAS_IN_BYTES: ReadonlySet<QuotaName> = new Set(['memory', 'results', 'suspended']);

/** What each caller uses, and how often a caller was refused more. */
export class CallerQuotas {
  readonly limits: Quotas;
  readonly #used = new Map<QuotaName, Map<string, number>>();
  readonly #refused = new Map<QuotaName, number>();

  constructor(limits: Quotas = DEFAULT_QUOTAS) {
    this.limits = limits;
  }

  /** Reserves an amount for a caller, if it is within the quota. */
  take(quota: QuotaName, caller: string, amount: number): boolean {
    const used = this.#usedOf(quota);
    const after = (used.get(caller) ?? 0) + amount;
    if (after > this.limits[quota]) {
      this.countRefusal(quota);
      return false;
    }
    used.set(caller, after);
    return true;
  }

  give(quota: QuotaName, caller: string, amount: number): void {
    const used = this.#usedOf(quota);
    const after = (used.get(caller) ?? 0) - amount;
    if (after > 0) used.set(caller, after);
    else used.delete(caller);
  }

  countRefusal(quota: QuotaName): void {
    this.#refused.set(quota, (this.#refused.get(quota) ?? 0) + 1);
  }

  /** How often more was refused, or something was dropped to stay within a quota. */
  refusals(quota: QuotaName): number {
    return this.#refused.get(quota) ?? 0;
  }

  /** The highest use by any one caller; undefined for a quota that is counted on disk. */
  highest(quota: QuotaName): number | undefined {
    const used = this.#used.get(quota);
    return used === undefined ? undefined : Math.max(0, ...used.values());
  }

  #usedOf(quota: QuotaName): Map<string, number> {
    const used = this.#used.get(quota) ?? new Map<string, number>();
    this.#used.set(quota, used);
    return used;
  }
}

/** `has`: a description of what the caller already uses. `next`: the one thing to do. */
export function quotaExceeded(quota: QuotaName, has: string, next: string): HostError {
  return new HostError('quota_exceeded', `${has}, the most that quotas.${quota} allows one caller; ${next}`);
}

export const WAIT_FIRST = 'wait for the answers before you ask for more';

export function tooManyApprovals(count: number): HostError {
  return quotaExceeded('approvals', `${count} of your calls wait for approval already`, WAIT_FIRST);
}

export function inMebibytes(bytes: number): string {
  return `${Math.floor(bytes / MEBIBYTE)} MiB`;
}
