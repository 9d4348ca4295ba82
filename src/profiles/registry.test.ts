import { expect, test } from 'vitest';
import { configSchema } from '../config/schema/schema.js';
import { executeSettings } from './registry.js';
import { DEFAULT_LIMITS } from './unified/default-limits.js';

const limitsOf = (sandbox: object) => executeSettings(configSchema.parse({ sandbox })).limits.defaults;

test('a request that sets no limits has those of the contract [C1, C11, C16]', () => {
  expect(DEFAULT_LIMITS).toEqual({
    execution: { timeout: 30_000, memoryLimit: 134_217_728, cpuQuota: 0.5 },
    network: { maxRequestsPerSecond: 10, maxRequestSize: 1_048_576, timeoutPerRequest: 5_000 },
    mcp: { maxCallsPerSecond: 5, maxConcurrentCalls: 3, timeoutPerCall: 10_000 },
  });
  expect(limitsOf({})).toMatchObject({ timeoutMs: 30_000, maxMemoryBytes: 134_217_728, cpuQuota: 0.5 });
});

test('or those of the configuration [C12]', () => {
  const limits = { timeout: '7s', memory: '32MB', cpuQuota: 0.2 };
  expect(limitsOf({ limits })).toMatchObject({ timeoutMs: 7_000, maxMemoryBytes: 32 * 1024 * 1024, cpuQuota: 0.2 });
});

test('workers have the numbers of the contract where nothing is set, and 50 at most [C11]', () => {
  const workersOf = (workers: object) => configSchema.safeParse({ sandbox: { workers } });
  expect(workersOf({}).data?.sandbox.workers).toMatchObject({ min: 2, idleTimeout: 30_000 });
  expect(workersOf({ max: 50 }).data?.sandbox.workers).toMatchObject({ min: 2, max: 50 });
  expect(workersOf({ max: 51 }).success).toBe(false);
});
