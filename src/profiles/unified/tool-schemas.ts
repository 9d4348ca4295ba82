import type { JsonObject } from '../../domain/json.js';
import type { LimitTable } from '../../domain/limits.js';
import { ERROR_TYPES } from './errors.js';

/** The contract's messages as JSON Schema: over MCP, and in the OpenAPI document. */

export function executeInputSchema({ defaults, maximum }: LimitTable): JsonObject {
  return {
    type: 'object',
    properties: {
      code: { type: 'string', description: 'The body of an async function: `return` gives the result, `await` works.' },
      typescript: { type: 'boolean', default: true, description: 'false: the code is JavaScript.' },
      timeout: {
        type: 'integer',
        minimum: 1,
        maximum: maximum.timeoutMs,
        default: Math.min(defaults.timeoutMs, maximum.timeoutMs),
        description: 'Milliseconds.',
      },
      memoryLimit: {
        type: 'integer',
        minimum: 1,
        maximum: maximum.maxMemoryBytes,
        default: Math.min(defaults.maxMemoryBytes, maximum.maxMemoryBytes),
        description: 'Bytes.',
      },
      capabilities: {
        description:
          'What the code may reach; nothing where it is left out. mcp:<server>, mcp:<server>/<tool>, network:<host>:<port>, filesystem:<path>.',
        anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'object' }],
      },
      context: {
        type: 'object',
        description: 'Visible to the code as `context`. `requestId` comes back in the answer.',
      },
    },
    required: ['code'],
    additionalProperties: false,
  };
}

export function executeOutputSchema(): JsonObject {
  const count = { type: 'number', minimum: 0 };
  return {
    type: 'object',
    properties: {
      success: { type: 'boolean' },
      result: {},
      error: errorSchema(),
      metrics: {
        type: 'object',
        properties: { executionTime: count, memoryUsed: count, cpuTime: count, apiCalls: count },
        required: ['executionTime', 'memoryUsed', 'cpuTime', 'apiCalls'],
      },
      logs: { type: 'array', items: { type: 'string' } },
      requestId: { type: 'string' },
    },
    required: ['success', 'metrics', 'logs', 'requestId'],
  };
}

export function errorSchema(): JsonObject {
  return {
    type: 'object',
    properties: {
      type: { enum: [...ERROR_TYPES] },
      code: { type: 'string' },
      message: { type: 'string' },
      details: { type: 'object' },
      stack: { type: 'string' },
      timestamp: { type: 'string', format: 'date-time' },
      requestId: { type: 'string' },
    },
    required: ['type', 'code', 'message', 'timestamp', 'requestId'],
  };
}
