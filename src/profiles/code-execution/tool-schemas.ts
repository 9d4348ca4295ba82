import type { JsonObject } from '../../domain/json.js';
import { MAX_TIMEOUT_MS } from './contract.js';

/** JSON Schema of a request, in the contract's wording. */
export const TOOL_INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    code: {
      type: 'string',
      description:
        'JavaScript or TypeScript source code (ES2020+) to execute. Its value is the last expression or a top-level return.',
    },
    language: {
      type: 'string',
      description:
        "Source code language. When set to 'typescript', the code is automatically transpiled to JavaScript before execution.",
      enum: ['javascript', 'typescript'],
      default: 'javascript',
    },
    input: {
      type: 'object',
      description: 'Input data accessible as global `input` variable in code',
      default: {},
    },
    options: {
      type: 'object',
      description: 'Execution options',
      properties: {
        timeout_ms: {
          type: 'number',
          description: `Execution timeout in milliseconds (1-${MAX_TIMEOUT_MS})`,
          minimum: 1,
          maximum: MAX_TIMEOUT_MS,
        },
        max_tool_calls: {
          type: 'number',
          description: 'Maximum number of tool calls (0 = unlimited)',
          minimum: 0,
        },
        allowed_servers: {
          type: 'array',
          items: { type: 'string' },
          description: 'Array of server names allowed to be called (empty = all allowed)',
        },
      },
    },
  },
  required: ['code'],
};

/** JSON Schema of every response. */
export const TOOL_OUTPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    ok: { type: 'boolean', description: 'Whether the script came to its end.' },
    value: { description: 'What the script returned, where ok is true.' },
    error: {
      type: 'object',
      description: 'Why the script failed, if ok is false.',
      properties: {
        code: {
          type: 'string',
          description:
            'SYNTAX_ERROR, RUNTIME_ERROR, TIMEOUT, MAX_TOOL_CALLS_EXCEEDED, SERVER_NOT_ALLOWED or SERIALIZATION_ERROR; another one where nothing was run.',
        },
        message: { type: 'string' },
        stack: { type: 'string', description: 'Stack trace of a runtime error, else empty.' },
      },
      required: ['code', 'message', 'stack'],
    },
  },
  required: ['ok'],
};
