import type { JsonObject } from '../../domain/json.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import type { RunnerSettings } from './settings.js';

const SOURCES: Readonly<Record<ProcessLanguage, string>> = {
  node: 'An ES module in JavaScript or TypeScript. Top-level await works. Set globalThis.result to what you want back.',
  python:
    'Python source. Top-level await works, and asyncio.run(main()) too. Assign what you want back to the global `result`.',
};

export function inputSchema(language: ProcessLanguage, { limits, most }: RunnerSettings): JsonObject {
  return {
    type: 'object',
    properties: {
      code: { type: 'string', description: SOURCES[language] },
      timeout_ms: {
        type: 'integer',
        minimum: 1,
        maximum: most.timeoutMs,
        default: limits.timeoutMs,
        description: 'Computing and waiting for tools together.',
      },
      memory_bytes: {
        type: 'integer',
        minimum: 1,
        maximum: most.maxMemoryBytes,
        default: limits.maxMemoryBytes,
        description: 'All processes of the program together.',
      },
    },
    required: ['code'],
    additionalProperties: false,
  };
}

/** JSON Schema of every response. */
export const OUTPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    approval_state: { type: 'string', enum: ['PENDING', 'APPROVED', 'DENIED', 'EXPIRED'] },
    result: {
      type: 'object',
      properties: {
        ok: { type: 'boolean' },
        data: { description: 'The result of the program, if ok is true.' },
        error: {
          type: 'object',
          properties: { type: { type: 'string' }, message: { type: 'string' }, retryable: { type: 'boolean' } },
          required: ['type', 'message', 'retryable'],
        },
      },
      required: ['ok'],
    },
  },
  required: ['result'],
};
