/** What one execution may spend. Each profile has its own defaults; a request may change them up to the maximum. */
export interface AskedLimits {
  /** Computing and waiting for tools; time spent suspended does not count. */
  readonly timeoutMs: number;
  readonly maxMemoryBytes: number;
  readonly maxLogBytes: number;
  readonly maxToolCalls: number;
}

/** The same with what only the configuration sets. */
export interface Limits extends AskedLimits {
  /** Share of a processor over the whole of its time, where the program runs in QuickJS; absent: as much as it can take. */
  readonly cpuQuota?: number;
}

/** What a log entry costs of `maxLogBytes` besides its text: its level, its time and what holds them together. */
export const LOG_ENTRY_BYTES = 48;
/** The most entries of one run, whatever they cost. */
export const MAX_LOG_ENTRIES = 100_000;

/** How often reads of its clock may move it in one run; beyond that it moves only when something is delivered. */
export const MAX_CLOCK_TICKS = 8_192;

export const DEFAULT_LIMITS: AskedLimits = {
  timeoutMs: 30_000,
  maxMemoryBytes: 64 * 1024 * 1024,
  maxLogBytes: 256 * 1024,
  maxToolCalls: 1_000,
};

export const MAXIMUM_LIMITS: AskedLimits = {
  timeoutMs: 600_000,
  maxMemoryBytes: 1024 * 1024 * 1024,
  maxLogBytes: 16 * 1024 * 1024,
  maxToolCalls: 100_000,
};

/** What a request gets that sets no limits, and the most that it may ask for. */
export interface LimitTable {
  readonly defaults: Limits;
  readonly maximum: Limits;
}

export const LIMITS_OF_THE_CORE: LimitTable = { defaults: DEFAULT_LIMITS, maximum: MAXIMUM_LIMITS };

/** A program is written by a model; this is far more than any writes. The worker's stack is measured by it. */
export const MAX_SOURCE_BYTES = 256 * 1024;

/** A source up to here cannot bring a parser down, however it is nested. Nearly all programs are shorter. */
export const HARMLESS_SOURCE_BYTES = 4 * 1024;
