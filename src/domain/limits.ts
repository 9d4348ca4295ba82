/** One limit of a run: its values, its key under `sandbox.limits`, and a description for prompts. */
interface LimitRow {
  readonly setting: 'timeout' | 'memory' | 'logs' | 'calls';
  readonly default: number;
  readonly maximum: number;
  /** The smallest value that a request may ask for. */
  readonly least: number;
  readonly meaning: string;
}

/** Every limit that a request may set. Requests, configuration, recordings and prompts are derived from this table. */
export const LIMITS = {
  /** Time spent suspended does not count. */
  timeoutMs: {
    setting: 'timeout',
    default: 30_000,
    maximum: 600_000,
    least: 1,
    meaning: 'milliseconds of computing and waiting for tools',
  },
  maxMemoryBytes: {
    setting: 'memory',
    default: 64 * 1024 * 1024,
    maximum: 1024 * 1024 * 1024,
    least: 1,
    meaning: 'memory of the program',
  },
  maxLogBytes: {
    setting: 'logs',
    default: 256 * 1024,
    maximum: 16 * 1024 * 1024,
    least: 1,
    meaning: 'console output that is kept',
  },
  maxToolCalls: { setting: 'calls', default: 1_000, maximum: 100_000, least: 0, meaning: 'tool calls' },
} as const satisfies Readonly<Record<string, LimitRow>>;

export type LimitName = keyof typeof LIMITS;
export const LIMIT_NAMES = Object.keys(LIMITS) as readonly LimitName[];

/** Limits of one run. Each profile has its own defaults; a request may change them up to the maximum. */
export type RequestedLimits = Readonly<Record<LimitName, number>>;

/** A record with one value for each limit. */
export function eachLimit<Value>(value: (row: LimitRow, name: LimitName) => Value): Readonly<Record<LimitName, Value>> {
  const values = LIMIT_NAMES.map((name) => [name, value(LIMITS[name], name)] as const);
  return Object.fromEntries(values) as Record<LimitName, Value>;
}

/** Adds the limits that only the configuration sets. */
export interface Limits extends RequestedLimits {
  /** Share of a CPU core over the whole run, if the program runs in QuickJS. Absent: unlimited. */
  readonly cpuQuota?: number;
}

/** Bytes of `maxLogBytes` that a log entry costs besides its text: its level, its time and the JSON around them. */
export const LOG_ENTRY_BYTES = 48;
/** Maximum number of log entries of one run, regardless of their size. */
export const MAX_LOG_ENTRIES = 100_000;

/** How many clock reads may advance the clock in one run. Beyond that, only a delivery advances it. */
export const MAX_CLOCK_TICKS = 8_192;

export const DEFAULT_LIMITS: RequestedLimits = eachLimit((row) => row.default);

export const MAXIMUM_LIMITS: RequestedLimits = eachLimit(({ maximum }) => maximum);

/** The limits of a request that sets none, and the maximum that it may ask for. */
export interface LimitTable {
  readonly defaults: Limits;
  readonly maximum: Limits;
}

export const CORE_LIMITS: LimitTable = { defaults: DEFAULT_LIMITS, maximum: MAXIMUM_LIMITS };

/** Far more than a model writes for one program. The size of the worker's stack was measured with it. */
export const MAX_SOURCE_BYTES = 256 * 1024;

/** A source of up to this size cannot overflow a parser's stack, however it is nested. Nearly all programs are shorter. */
export const HARMLESS_SOURCE_BYTES = 4 * 1024;
