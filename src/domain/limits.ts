/** One limit of a run: its figures, its key under `sandbox.limits`, and what it limits, in words for a prompt. */
interface LimitRow {
  readonly setting: 'timeout' | 'memory' | 'logs' | 'calls';
  readonly default: number;
  readonly maximum: number;
  /** The least that a request may ask for. */
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

/** What one run may spend. Each profile has its own defaults; a request may change them up to the maximum. */
export type RequestedLimits = Readonly<Record<LimitName, number>>;

/** A value for each limit, or for whatever else there is one of for each. */
export function eachLimit<Value>(value: (row: LimitRow, name: LimitName) => Value): Readonly<Record<LimitName, Value>> {
  const values = LIMIT_NAMES.map((name) => [name, value(LIMITS[name], name)] as const);
  return Object.fromEntries(values) as Record<LimitName, Value>;
}

/** The same with what only the configuration sets. */
export interface Limits extends RequestedLimits {
  /** share of a CPU core over the whole of its time, where the program runs in QuickJS; absent: as much as it can take. */
  readonly cpuQuota?: number;
}

/** What a log entry costs of `maxLogBytes` besides its text: its level, its time and what holds them together. */
export const LOG_ENTRY_BYTES = 48;
/** The most entries of one run, whatever they cost. */
export const MAX_LOG_ENTRIES = 100_000;

/** How often reads of its clock may move it in one run; beyond that it moves only when something is delivered. */
export const MAX_CLOCK_TICKS = 8_192;

export const DEFAULT_LIMITS: RequestedLimits = eachLimit((row) => row.default);

export const MAXIMUM_LIMITS: RequestedLimits = eachLimit(({ maximum }) => maximum);

/** What a request gets that sets no limits, and the most that it may ask for. */
export interface LimitTable {
  readonly defaults: Limits;
  readonly maximum: Limits;
}

export const CORE_LIMITS: LimitTable = { defaults: DEFAULT_LIMITS, maximum: MAXIMUM_LIMITS };

/** A program is written by a model; this is far more than any writes. The worker's stack is measured by it. */
export const MAX_SOURCE_BYTES = 256 * 1024;

/** A source up to here cannot bring a parser down, however it is nested. Nearly all programs are shorter. */
export const HARMLESS_SOURCE_BYTES = 4 * 1024;
