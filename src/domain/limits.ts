/** What one execution may spend. Each profile has its own defaults; a request may change them up to the maximum. */
export interface Limits {
  /** Computing and waiting for tools; time spent suspended does not count. */
  readonly timeoutMs: number;
  readonly maxMemoryBytes: number;
  readonly maxLogBytes: number;
  readonly maxToolCalls: number;
}

export const DEFAULT_LIMITS: Limits = {
  timeoutMs: 30_000,
  maxMemoryBytes: 64 * 1024 * 1024,
  maxLogBytes: 256 * 1024,
  maxToolCalls: 1_000,
};

export const MAXIMUM_LIMITS: Limits = {
  timeoutMs: 600_000,
  maxMemoryBytes: 1024 * 1024 * 1024,
  maxLogBytes: 16 * 1024 * 1024,
  maxToolCalls: 100_000,
};
