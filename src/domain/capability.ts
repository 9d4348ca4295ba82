/** What a request, a token or the configuration grants. What is absent is not granted. */
export interface CapabilitySet {
  readonly network?: NetworkCapability;
  readonly filesystem?: FilesystemCapability;
  readonly mcp?: McpCapability;
  /** Names of what the contract calls `system`. Nothing here does any of them: no configuration grants one. */
  readonly system?: readonly string[];
}

export interface NetworkCapability {
  readonly destinations: readonly Destination[];
  readonly maxRequestsPerSecond: number;
  /** Of all runs of the caller together; absent: as many as one run may make. */
  readonly callerMaxRequestsPerSecond?: number;
  readonly maxRequestBytes: number;
}

/** A name, or `*.name` for everything below it; an address only as it is. */
export interface Destination {
  readonly host: string;
  readonly ports: readonly number[];
}

export interface FilesystemCapability {
  /** Absolute. A folder grants what is below it. */
  readonly paths: readonly string[];
  readonly isReadOnly: boolean;
  readonly maxFileBytes: number;
  /**
   * Paths of the token and of the configuration, each a list, that this was compared with. A file that is opened lies within
   * each of them too: links may have changed since.
   */
  readonly within?: readonly (readonly string[])[];
  /** With the dot; absent: all. */
  readonly extensions?: readonly string[];
}

export interface McpCapability {
  /** Names of servers; `*` means any characters. */
  readonly servers: readonly string[];
  /** `tool` or `server/tool`, with `*`; absent: all tools of these servers. */
  readonly tools?: readonly string[];
  readonly maxCallsPerSecond: number;
  /** Of all runs of the caller together; absent: as many as one run may make. */
  readonly callerMaxCallsPerSecond?: number;
  /** Lists of the configuration that a tool is in as well: two patterns cannot be made one. */
  readonly within?: readonly Pick<McpCapability, 'servers' | 'tools'>[];
}

/** What the configuration sets for every run with a grant. */
export interface GrantLimits {
  readonly maxConcurrentCalls: number;
  /** For servers that set no timeout of their own. */
  readonly timeoutPerCallMs: number;
  readonly timeoutPerRequestMs: number;
  /** Of a caller whose runs have no grants; absent: not limited. */
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
