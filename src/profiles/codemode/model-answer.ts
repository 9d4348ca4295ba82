import type { LogEntry } from '../../domain/run.js';
import type { TraceEntry } from '../../host/calls/tool-trace.js';
import { safeSlice } from '../../lib/safe-slice.js';
import { callsMade } from '../calls-made.js';
import { type Diagnostic, LOG_LIMIT_REACHED, type RunResponse } from './render.js';

/** What a model reads of an answer; the record of the run has all of it. */
export interface AnswerSettings {
  /** `failures`: nothing where the program succeeded, else (also while it is suspended) the calls that failed, and the others in one line. */
  readonly toolTrace: ToolTraceSetting;
  /** About what an answer may cost: the result first, then diagnostics, then logs. */
  readonly maxTokens: number;
}

export const TOOL_TRACE_SETTINGS = ['failures', 'all', 'none'] as const;
export type ToolTraceSetting = (typeof TOOL_TRACE_SETTINGS)[number];
export const DEFAULT_ANSWER: AnswerSettings = { toolTrace: 'failures', maxTokens: 5_000 };

/** JSON has about so many characters for a token; numbers and ids have fewer. */
const CHARACTERS_PER_TOKEN = 3;
/** A result may take this part of the budget; a larger one is kept, and answered with its beginning. */
const RESULT_PART = 0.8;
/** What is left to logs, however large the rest is. */
const LEAST_LOG_CHARACTERS = 1_500;

/** Results of more bytes are kept under a handle. */
export function mostResultBytes({ maxTokens }: AnswerSettings): number {
  return Math.round(maxTokens * CHARACTERS_PER_TOKEN * RESULT_PART);
}

/** The answer as a model reads it. `keepLogs` keeps all lines for a later program, where not all are told. */
export function modelAnswer(
  response: RunResponse,
  settings: AnswerSettings,
  keepLogs?: () => string,
): Partial<RunResponse> {
  const { logs, result, diagnostics, toolTrace, ...rest } = response;
  // The reader of an unfinished program needs to know what it has done so far.
  const isUnfinished = diagnostics.some(({ severity, code }) => severity === 'error' || code === 'APPROVAL_PENDING');
  const calls = traceFor(settings.toolTrace, toolTrace, isUnfinished);
  const told = [...diagnostics, ...calls.diagnostics];
  const spent = JSON.stringify(result).length + JSON.stringify(told).length;
  const left = Math.max(LEAST_LOG_CHARACTERS, settings.maxTokens * CHARACTERS_PER_TOKEN - spent);
  return { logs: logsWithin(logs, left, keepLogs), result, diagnostics: told, ...calls.trace, ...rest };
}

const MAX_FAILED_CALLS = 5;

function traceFor(
  setting: ToolTraceSetting,
  trace: readonly TraceEntry[],
  isUnfinished: boolean,
): { trace: Pick<Partial<RunResponse>, 'toolTrace'>; diagnostics: Diagnostic[] } {
  if (setting === 'all') return { trace: { toolTrace: trace }, diagnostics: [] };
  if (setting === 'none' || !isUnfinished) return { trace: {}, diagnostics: [] };
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

/** Calls of one tool that failed for one reason are one entry, which says how many they are. */
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
/** What an entry costs besides its message. */
const ENTRY_CHARACTERS = 45;
/** Of the room for logs, the part for the beginning; the end is where a program says what came out. */
const HEAD_PART = 0.4;

/** The first and the last entries that fit, and one that says which are left out and where the others are. */
export function logsWithin(logs: readonly LogEntry[], most: number, keep?: () => string): readonly LogEntry[] {
  if (logs.reduce((sum, entry) => sum + costOf(entry), 0) <= most) return logs;
  // Where the program logged more than its limit, the last entry says so, and the rest of its lines is lost.
  const limit = logs.at(-1)?.message.startsWith(LOG_LIMIT_REACHED) ? logs.at(-1) : undefined;
  const lines = limit === undefined ? logs : logs.slice(0, -1);
  const longest = Math.floor(most / 4);
  const short = (entry: LogEntry): LogEntry => ({ ...entry, message: shortened(entry.message, longest) });
  const head: LogEntry[] = [];
  const tail: LogEntry[] = [];
  let room = most * HEAD_PART;
  for (let at = 0; at < lines.length; at += 1) {
    const entry = short(lines[at] as LogEntry);
    room -= costOf(entry);
    if (room < 0) break;
    head.push(entry);
  }
  room = most * (1 - HEAD_PART);
  for (let at = lines.length - 1; at >= head.length; at -= 1) {
    const entry = short(lines[at] as LogEntry);
    room -= costOf(entry);
    if (room < 0) break;
    tail.unshift(entry);
  }
  const [first, last] = [head.length + 1, lines.length - tail.length];
  const which = first > last ? 'long lines are shortened' : `lines ${first} to ${last} of ${lines.length} are left out`;
  const has = limit === undefined ? 'all lines' : `these ${lines.length} lines`;
  const all = keep === undefined ? '' : `; await load(${JSON.stringify(keep())}) of @codemode/results has ${has}`;
  // The last entry says so, as it does where the program's own limit is reached.
  const lost = limit === undefined ? '' : ` T${limit.message.slice(TRUNCATED.length + 1)}.`;
  const message = `${TRUNCATED}${which}${all}.${lost} ${ASSIGN}`;
  return [...head, ...tail, { level: 'warn', message, timeMs: lines.at(-1)?.timeMs ?? 0 }];
}

function costOf({ message }: LogEntry): number {
  return JSON.stringify(message).length + ENTRY_CHARACTERS;
}

const TRUNCATED = 'logs were truncated: ';

function shortened(message: string, most: number): string {
  if (message.length <= most) return message;
  const begin = safeSlice(message, most);
  return `${begin}… (${message.length - begin.length} more characters)`;
}
