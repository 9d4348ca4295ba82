import type { JsonObject } from '../../domain/json.js';

/** JSON Schema of a request. */
export const TOOL_INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { code: { type: 'string', description: 'The code to execute' } },
  required: ['code'],
};

/** JSON Schema of every response, in the contract's wording. */
export const TOOL_OUTPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { output: { type: 'string', description: 'The program output' } },
  required: ['output'],
};
