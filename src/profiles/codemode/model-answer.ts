import type { JsonValue } from '../../domain/json.js';
import type { LogEntry } from '../../domain/run.js';
import type { TraceEntry } from '../../host/calls/tool-trace.js';
import {
  answerCharacters,
  DEFAULT_ANSWER_TOKENS,
  LEAST_LOG_CHARACTERS,
  mostResultCharacters,
} from '../answer-budget.js';
import { callsMade } from '../calls-made.js';
import { entriesWithin } from '../logs-within.js';
import type { Diagnostic, RunResponse } from './render.js';

/** What a model reads of a response. The record of the run has everything. */
export interface AnswerSettings {
  /** `failures`: nothing if the program succeeded; otherwise (also while suspended) the failed calls, and the others in one line. */
  readonly toolTrace: ToolTraceSetting;
  /** The approximate token budget of an answer: the result first, then diagnostics, then logs. */
  readonly maxTokens: number;
}

export const TOOL_TRACE_SETTINGS = ['failures', 'all', 'none'] as const;
export type ToolTraceSetting = (typeof TOOL_TRACE_SETTINGS)[number];
export const DEFAULT_ANSWER: AnswerSettings = { toolTrace: 'failures', maxTokens: DEFAULT_ANSWER_TOKENS };

/** Larger results are kept under a handle. */
export function mostResultBytes({ maxTokens }: AnswerSettings): number {
  return mostResultCharacters(maxTokens);
}

/** The answer as a model reads it. `keepLogs` keeps all lines for a later program if not all are shown. */
export function modelAnswer(
  response: RunResponse,
  settings: AnswerSettings,
  keepLogs?: () => string,
): Partial<RunResponse> {
  const { logs, result, diagnostics, toolTrace, ...rest } = response;
  const calls = traceFor(settings.toolTrace, toolTrace, isUnfinished(diagnostics));
  const told = [...diagnostics, ...calls.diagnostics];
  const spent = JSON.stringify(result).length + JSON.stringify(told).length;
  const left = Math.max(LEAST_LOG_CHARACTERS, answerCharacters(settings.maxTokens) - spent);
  return { logs: logsWithin(logs, left, keepLogs), result, diagnostics: told, ...calls.trace, ...rest };
}

/**
 * The response of an earlier run as the program gets it that waited for it. Such a program mostly returns it as it is: the list of
 * calls costs no less there than in an answer of its own. The logs are whole, for the program to choose from.
 */
export function awaitedAnswer(response: JsonValue, { toolTrace: setting }: AnswerSettings): JsonValue {
  const whole: unknown = response;
  if (!isRunResponse(whole)) return response;
  const { diagnostics, toolTrace, ...rest } = whole;
  const calls = traceFor(setting, toolTrace, isUnfinished(diagnostics));
  return { ...rest, diagnostics: [...diagnostics, ...calls.diagnostics], ...calls.trace } as unknown as JsonValue;
}

/** A caller's runs may be of several contracts. */
function isRunResponse(response: unknown): response is RunResponse {
  const { diagnostics, toolTrace } = (response ?? {}) as Partial<RunResponse>;
  return Array.isArray(diagnostics) && Array.isArray(toolTrace);
}

/** The reader of an unfinished program needs to know what it has done so far. */
function isUnfinished(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity, code }) => severity === 'error' || code === 'APPROVAL_PENDING');
}

const MAX_FAILED_CALLS = 5;

function traceFor(
  setting: ToolTraceSetting,
  trace: readonly TraceEntry[],
  hasNotFinished: boolean,
): { trace: Pick<Partial<RunResponse>, 'toolTrace'>; diagnostics: Diagnostic[] } {
  if (setting === 'all') return { trace: { toolTrace: trace }, diagnostics: [] };
  if (setting === 'none' || !hasNotFinished) return { trace: {}, diagnostics: [] };
  const failed = trace.filter(({ ok }) => ok === false);
  const others = trace.filter(({ ok }) => ok !== false);
  const { shown, leftOut } = failedCalls(failed);
  const said = [
    ...(others.length === 0 ? [] : [callsMade(others)]),
    ...(leftOut === 0 ? [] : [`${leftOut} more calls that failed are left out of toolTrace`]),
  ];
  return {
    trace: shown.length === 0 ? {} : { toolTrace: shown },
    diagnostics: said.length === 0 ? [] : [{ severity: 'info', code: 'CALLS_MADE', message: said.join('; ') }],
  };
}

/** Failed calls of one tool with the same error become one entry with a count. */
function failedCalls(failed: readonly TraceEntry[]): { shown: TraceEntry[]; leftOut: number } {
  const kinds = new Map<string, { entry: TraceEntry; times: number }>();
  for (const entry of failed) {
    const key = JSON.stringify([entry.serverId, entry.toolName, entry.error]);
    const known = kinds.get(key);
    if (known === undefined) kinds.set(key, { entry, times: 1 });
    else known.times++;
  }
  const told = [...kinds.values()].slice(0, MAX_FAILED_CALLS);
  const leftOut = failed.length - told.reduce((sum, { times }) => sum + times, 0);
  const shown = told.map(({ entry, times }) =>
    times === 1 ? entry : { ...entry, error: `${entry.error ?? 'failed'} (${times} calls)` },
  );
  return { shown, leftOut };
}

const ASSIGN = 'Assign large values to globalThis.__codemode_result__ instead of logging them';

/** The logs that fit, and how a later program loads the omitted lines. */
export function logsWithin(logs: readonly LogEntry[], most: number, keep?: () => string): readonly LogEntry[] {
  const where = (has: string) =>
    keep === undefined ? '' : `await load(${JSON.stringify(keep())}) of @codemode/results has ${has}`;
  return entriesWithin(logs, most, { advice: ASSIGN, where });
}
