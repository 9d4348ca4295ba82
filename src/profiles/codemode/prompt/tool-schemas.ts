import type { JsonObject } from '../../../domain/json.js';
import { CORE_LIMITS, type LimitTable } from '../../../domain/limits.js';
import { describeLimits } from './describe-limits.js';

/**
 * JSON Schema of a request. Only `type`, `properties` and descriptions: limits are in the descriptions, because some model APIs
 * refuse `minimum`, `maximum` and `default`, and the host checks them anyway.
 */
export function toolInputSchema(limits: LimitTable = CORE_LIMITS): JsonObject {
  return {
    type: 'object',
    properties: {
      code: {
        type: 'string',
        description:
          'An ES module in JavaScript or TypeScript that assigns its answer to globalThis.__codemode_result__.',
      },
      limits: {
        type: 'object',
        properties: Object.fromEntries(
          describeLimits(limits).map(({ key, meaning, figures }) => [
            key,
            { type: 'integer', description: `${capital(meaning)}: ${figures}.` },
          ]),
        ),
      },
      requestedCapabilities: {
        type: 'array',
        items: { type: 'string' },
        description: 'Servers that the program will use, as "<serverId>".',
      },
    },
    required: ['code'],
  };
}

/**
 * JSON Schema of every response, including failures. No more than clients need to validate it: some pass it to the model, which
 * reads the response itself.
 */
export function toolOutputSchema(): JsonObject {
  return {
    type: 'object',
    properties: {
      logs: listOf('level', 'message', 'timeMs'),
      result: { description: 'null if it was never assigned, or the program failed' },
      diagnostics: listOf('severity', 'code', 'message'),
      toolTrace: listOf('serverId', 'toolName', 'durationMs', 'ok'),
      runId: { type: 'string' },
    },
    required: ['logs', 'result', 'diagnostics'],
  };
}

function listOf(...required: string[]): JsonObject {
  return { type: 'array', items: { type: 'object', required } };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
