import type { JsonObject } from '../../../domain/json.js';
import { LIMITS_OF_THE_CORE, type LimitTable } from '../../../domain/limits.js';
import { limitsInWords } from './limits-in-words.js';

/**
 * JSON Schema of a request. Only `type`, `properties` and words: figures stand in the descriptions, because some model
 * APIs refuse `minimum`, `maximum` and `default`, and the host checks them anyway.
 */
export function toolInputSchema(limits: LimitTable = LIMITS_OF_THE_CORE): JsonObject {
  return {
    type: 'object',
    properties: {
      code: {
        type: 'string',
        description:
          'An ES module in JavaScript or TypeScript. Assign the answer to globalThis.__codemode_result__; a top-level return is a syntax error.',
      },
      limits: {
        type: 'object',
        description: 'What this run may spend; unknown keys are ignored.',
        properties: Object.fromEntries(
          limitsInWords(limits).map(({ key, meaning, figures }) => [
            key,
            { type: 'integer', description: `${capital(meaning)}: ${figures}.` },
          ]),
        ),
        additionalProperties: true,
      },
      requestedCapabilities: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Servers the program will use, as "<serverId>" or "mcp:<serverId>": they are connected early, and one that cannot be had is reported.',
      },
    },
    required: ['code'],
  };
}

/** JSON Schema of every answer, also of a program that failed. */
export function toolOutputSchema(): JsonObject {
  return {
    type: 'object',
    properties: {
      logs: {
        type: 'array',
        description: 'Console output in order; a last entry of level warn says if it was cut.',
        items: {
          type: 'object',
          properties: {
            level: { type: 'string', enum: ['debug', 'log', 'warn', 'error'] },
            message: { type: 'string' },
            timeMs: { type: 'integer', description: 'Milliseconds since the start.' },
          },
          required: ['level', 'message', 'timeMs'],
        },
      },
      result: {
        description:
          'Last value of globalThis.__codemode_result__; null if it was never assigned or the program failed.',
      },
      diagnostics: {
        type: 'array',
        description: 'What went wrong, and what to know besides.',
        items: {
          type: 'object',
          properties: {
            severity: { type: 'string', enum: ['error', 'warning', 'info'] },
            code: {
              type: 'string',
              description:
                'SYNTAX_ERROR, UNCAUGHT_EXCEPTION, IMPORT_FAILURE, SANDBOX_LIMIT, CAPABILITY_UNAVAILABLE, ...',
            },
            message: { type: 'string' },
            hint: { type: 'string', description: 'The one thing to do next.' },
            path: { type: 'string', description: 'main.ts:line:column of the code as sent, or a JSON Pointer.' },
            errorClass: { type: 'string', description: 'Class of @codemode/errors behind it.' },
          },
          required: ['severity', 'code', 'message'],
        },
      },
      toolTrace: {
        type: 'array',
        description: 'The tool calls that were made, without their inputs and outputs.',
        items: {
          type: 'object',
          properties: {
            serverId: { type: 'string' },
            toolName: { type: 'string' },
            durationMs: { type: 'integer' },
            ok: { type: 'boolean' },
            error: { type: 'string' },
          },
          required: ['serverId', 'toolName', 'durationMs', 'ok'],
        },
      },
      runId: {
        type: 'string',
        description: 'Of a run that goes on after this answer, or of which something is kept: see diagnostics.',
      },
    },
    required: ['logs', 'result', 'diagnostics'],
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
