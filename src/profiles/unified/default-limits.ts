import { CAPABILITY_DEFAULTS } from '../../domain/capability.js';
import { DEFAULT_LIMITS as CORE } from '../../domain/limits.js';

const { network, mcp } = CAPABILITY_DEFAULTS;

/** The defaults for requests that set no limits, in the contract's fields. */
export const DEFAULT_LIMITS = {
  execution: { timeout: CORE.timeoutMs, memoryLimit: 128 * 1024 * 1024, cpuQuota: 0.5 },
  network: {
    maxRequestsPerSecond: network.maxRequestsPerSecond,
    maxRequestSize: network.maxRequestBytes,
    timeoutPerRequest: network.timeoutMs,
  },
  mcp: {
    maxCallsPerSecond: mcp.maxCallsPerSecond,
    maxConcurrentCalls: mcp.maxConcurrentCalls,
    timeoutPerCall: mcp.timeoutMs,
  },
} as const;
