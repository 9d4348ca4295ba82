import type { JsonValue } from '../domain/json.js';
import { cutJson } from './cut-json.js';
import { shapeOf } from './shape-of.js';

/** The approximate token budget of an answer, unless configured (`response.maxTokens`). */
export const DEFAULT_ANSWER_TOKENS = 5_000;
/** JSON has about this many characters per token; numbers and ids have fewer. */
const CHARACTERS_PER_TOKEN = 3;
/** The result's share of the budget. A larger result is cut to its beginning. */
const RESULT_PART = 0.8;
/** The shown part of a result that is too large: its first rows, for a thousand tokens or less. */
export const SHOWN_CHARACTERS = 3_000;
/** The minimum for logs, however large the rest is. */
export const LEAST_LOG_CHARACTERS = 1_500;

export function answerCharacters(maxTokens: number): number {
  return maxTokens * CHARACTERS_PER_TOKEN;
}

export function mostResultCharacters(maxTokens: number): number {
  return Math.round(answerCharacters(maxTokens) * RESULT_PART);
}

/** The beginning of a value, and the sentence that says it was cut. */
export interface Beginning {
  readonly value: JsonValue;
  readonly note: string;
}

/**
 * The beginning of a value that is too large for an answer, for contracts without handles. Undefined if the value fits. `field`:
 * the contract's name for the value.
 */
export function beginningOf(value: JsonValue, field: string, maxTokens: number): Beginning | undefined {
  const most = mostResultCharacters(maxTokens);
  const json = JSON.stringify(value);
  if (json.length <= most) return undefined;
  const shape = shapeOf(json);
  const what = shape === undefined ? '' : ` (${shape})`;
  return {
    value: JSON.parse(cutJson(json, SHOWN_CHARACTERS)) as JsonValue,
    note: `warning: the result has ${json.length} characters${what}, and an answer takes ${most}: \`${field}\` is only its beginning. Filter or summarise it in the code, or return it in parts`,
  };
}
