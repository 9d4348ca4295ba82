import { HostError } from './errors.js';

/** What one caller may have of everything that is finite. The configuration sets it in `quotas`, for each caller alike. */
export interface Quotas {
  /** Runs at the same time: computing, waiting for tools, waiting for a worker. */
  readonly runs: number;
  /**
   * Scripts (`code_execution`) that run at the same time: each keeps a process to its end, so further ones wait. Where there may be
   * several callers, one place of the pool is left for the others whatever this says.
   */
  readonly scripts: number;
  /** Bytes of host memory for open calls of programs that are still running, and what was answered to them. */
  readonly memory: number;
  /** Bytes of host memory for results that were too large to be passed on; the oldest go first. */
  readonly results: number;
  /** Runs that have ended and can be looked back at; the oldest go first. */
  readonly history: number;
  /** Bytes on disk of runs that are suspended. */
  readonly suspended: number;
  /** Scripts that programs have saved (`save` of `@codemode/scripts`), until somebody removes them. */
  readonly saved: number;
  /** Calls that wait for a person. */
  readonly approvals: number;
  /** MCP sessions over HTTP, of which the one that was idle for longest goes first; as many WebSockets; and as many requests that listen for news. */
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

/** What quotas are counted in bytes. */
export const QUOTAS_IN_BYTES: ReadonlySet<QuotaName> = new Set(['memory', 'results', 'suspended']);

/** What each caller has, and how often one was refused more. */
export class CallerQuotas {
  readonly limits: Quotas;
  readonly #used = new Map<QuotaName, Map<string, number>>();
  readonly #refused = new Map<QuotaName, number>();

  constructor(limits: Quotas = DEFAULT_QUOTAS) {
    this.limits = limits;
  }

  /** Takes something for a caller, where it is within the quota. */
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

  /** How often more was refused, and what was dropped to keep within a quota. */
  refusals(quota: QuotaName): number {
    return this.#refused.get(quota) ?? 0;
  }

  /** What the caller that has most of it has; undefined for what is counted on disk. */
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

/** `has`: what the caller has already, in words. `next`: the one thing to do. */
export function quotaExceeded(quota: QuotaName, has: string, next: string): HostError {
  return new HostError('quota_exceeded', `${has}, the most that quotas.${quota} allows one caller; ${next}`);
}

export function inMebibytes(bytes: number): string {
  return `${Math.floor(bytes / MEBIBYTE)} MiB`;
}
