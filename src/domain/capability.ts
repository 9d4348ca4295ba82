/** The capabilities that a request, a token or the configuration grants. An absent one is not granted. */
export interface CapabilitySet {
  readonly network?: NetworkCapability;
  readonly filesystem?: FilesystemCapability;
  readonly mcp?: McpCapability;
  /** Names that the contract calls `system`. None is implemented, so no configuration grants one. */
  readonly system?: readonly string[];
}

export interface NetworkCapability {
  readonly destinations: readonly Destination[];
  readonly maxRequestsPerSecond: number;
  /** For all runs of the caller together. Absent: the limit of one run. */
  readonly callerMaxRequestsPerSecond?: number;
  readonly maxRequestBytes: number;
}

/** `host` is a name, or `*.name` for everything below it. An IP address matches only itself. */
export interface Destination {
  readonly host: string;
  readonly ports: readonly number[];
}

export interface FilesystemCapability {
  /** Absolute paths. A folder grants everything below it. */
  readonly paths: readonly string[];
  readonly isReadOnly: boolean;
  readonly maxFileBytes: number;
  /**
   * The path lists of the token and of the configuration that this grant was checked against. An opened file must lie within
   * each of them too, because links may have changed since.
   */
  readonly within?: readonly (readonly string[])[];
  /** With the leading dot. Absent: all extensions. */
  readonly extensions?: readonly string[];
}

export interface McpCapability {
  /** Names of servers; `*` means any characters. */
  readonly servers: readonly string[];
  /** `tool` or `server/tool`, with `*`; absent: all tools of these servers. */
  readonly tools?: readonly string[];
  readonly maxCallsPerSecond: number;
  /** For all runs of the caller together. Absent: the limit of one run. */
  readonly callerMaxCallsPerSecond?: number;
  /** Lists of the configuration that must include the tool as well: two patterns cannot be merged into one. */
  readonly within?: readonly Pick<McpCapability, 'servers' | 'tools'>[];
}

/** Limits that the configuration sets for every run with a grant. */
export interface GrantLimits {
  readonly maxConcurrentCalls: number;
  /** For servers that set no timeout of their own. */
  readonly timeoutPerCallMs: number;
  readonly timeoutPerRequestMs: number;
  /** For a caller whose runs have no grants. Absent: no limit. */
  readonly maxCallsPerSecond?: number;
}

export const CAPABILITY_DEFAULTS = {
  network: { maxRequestsPerSecond: 10, maxRequestBytes: 1024 * 1024, timeoutMs: 5_000, ports: [443] },
  filesystem: { isReadOnly: true, maxFileBytes: 1024 * 1024 },
  mcp: { maxCallsPerSecond: 5, maxConcurrentCalls: 3, timeoutMs: 10_000 },
} as const;

export const DEFAULT_GRANT_LIMITS: GrantLimits = {
  maxConcurrentCalls: CAPABILITY_DEFAULTS.mcp.maxConcurrentCalls,
  timeoutPerCallMs: CAPABILITY_DEFAULTS.mcp.timeoutMs,
  timeoutPerRequestMs: CAPABILITY_DEFAULTS.network.timeoutMs,
};
