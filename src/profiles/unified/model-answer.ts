import { omitUndefined } from '../../lib/omit-undefined.js';
import { answerCharacters, beginningOf, LEAST_LOG_CHARACTERS } from '../answer-budget.js';
import { entriesWithin } from '../logs-within.js';
import type { ExecuteResponse } from './render.js';

/** The response as a model reads it: within a budget, with every cut noted in `logs`. REST clients get all of it. */
export function modelAnswer(response: ExecuteResponse, maxTokens: number): ExecuteResponse {
  const cut = response.result === undefined ? undefined : beginningOf(response.result, 'result', maxTokens);
  const shown = cut === undefined ? response : { ...response, result: cut.value };
  const spent = JSON.stringify([shown.result ?? '', shown.error ?? '']).length;
  const left = Math.max(LEAST_LOG_CHARACTERS, answerCharacters(maxTokens) - spent);
  const entries = response.logs.map((message) => ({ level: 'log', message, timeMs: 0 }) as const);
  const logs = entriesWithin(entries, left, { advice: 'Return what matters instead of logging it.' });
  return {
    ...shown,
    logs: [...logs.map(({ message }) => message), ...(cut === undefined ? [] : [`${cut.note}: value.slice(0, 50)`])],
  };
}

/** Omits what a model does not need and pays for each time: ids, times, metrics, and a stack that repeats the message. */
export function textOf({ success, result, error, logs }: ExecuteResponse): string {
  const { type, code, message, details } = error ?? {};
  return JSON.stringify({
    success,
    ...omitUndefined({ result }),
    // For a pending approval the message says everything.
    ...(error === undefined
      ? {}
      : { error: { type, code, message, ...(code === 'APPROVAL_PENDING' ? {} : { details }) } }),
    ...(logs.length === 0 ? {} : { logs }),
  });
}
