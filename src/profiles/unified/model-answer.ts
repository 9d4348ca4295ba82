import type { JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { cutJson } from '../cut-json.js';
import { entriesWithin } from '../logs-within.js';
import { shapeOf } from '../shape-of.js';
import type { ExecuteResponse } from './render.js';

/** About what an answer over MCP may cost, unless the configuration says otherwise. */
export const DEFAULT_ANSWER_TOKENS = 5_000;
/** JSON has about so many characters for a token. */
const CHARACTERS_PER_TOKEN = 3;
/** A result may take this part of the budget. */
const RESULT_PART = 0.8;
/** Of a larger one, this much is shown. */
const SHOWN_CHARACTERS = 3_000;
/** What is left to logs, however large the rest is. */
const LEAST_LOG_CHARACTERS = 1_500;

/** Results of more characters are answered over MCP with their beginning. */
export function mostResultCharacters(maxTokens: number): number {
  return Math.round(maxTokens * CHARACTERS_PER_TOKEN * RESULT_PART);
}

/** The response as a model reads it: within a budget, and every cut says so in `logs`. Programs over REST get all of it. */
export function modelAnswer(response: ExecuteResponse, maxTokens: number): ExecuteResponse {
  const most = mostResultCharacters(maxTokens);
  const json = response.result === undefined ? '' : JSON.stringify(response.result);
  const isCut = json.length > most;
  const shown = isCut ? cutJson(json, SHOWN_CHARACTERS) : json;
  const spent = shown.length + JSON.stringify(response.error ?? '').length;
  const left = Math.max(LEAST_LOG_CHARACTERS, maxTokens * CHARACTERS_PER_TOKEN - spent);
  const entries = response.logs.map((message) => ({ level: 'log', message, timeMs: 0 }) as const);
  const logs = entriesWithin(entries, left, { advice: 'Return what matters instead of logging it.' });
  return {
    ...response,
    ...(isCut ? { result: JSON.parse(shown) as JsonValue } : {}),
    logs: [...logs.map(({ message }) => message), ...(isCut ? [cutNote(json, most)] : [])],
  };
}

function cutNote(json: string, most: number): string {
  const shape = shapeOf(json);
  const what = shape === undefined ? '' : ` (${shape})`;
  return `warning: the result has ${json.length} characters${what}, and an answer takes ${most}: \`result\` is only its beginning. Filter or summarise it in the code, or return it in parts: value.slice(0, 50)`;
}

/** Without what a model has no use for and pays for each time: ids, times, metrics, and a stack that repeats the message. */
export function textOf({ success, result, error, logs }: ExecuteResponse): string {
  const { type, code, message, details } = error ?? {};
  return JSON.stringify({
    success,
    ...omitUndefined({ result }),
    ...(error === undefined ? {} : { error: { type, code, message, details } }),
    ...(logs.length === 0 ? {} : { logs }),
  });
}
