import type { LogEntry } from '../../domain/execution.js';
import type { TraceEntry } from '../../host/tool-trace.js';
import { safeSlice } from '../../lib/safe-slice.js';
import { visibleLine } from '../../lib/visible-text.js';
import type { Diagnostic, RunResponse } from './render.js';

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

const MAX_FAILED_CALLS = 20;
const MAX_NAMED_TOOLS = 8;

function traceFor(
  setting: ToolTraceSetting,
  trace: readonly TraceEntry[],
  isUnfinished: boolean,
): { trace: Pick<Partial<RunResponse>, 'toolTrace'>; diagnostics: Diagnostic[] } {
  if (setting === 'all') return { trace: { toolTrace: trace }, diagnostics: [] };
  if (setting === 'none' || !isUnfinished) return { trace: {}, diagnostics: [] };
  const failed = trace.filter(({ ok }) => ok === false);
  const others = trace.filter(({ ok }) => ok !== false);
  return {
    trace: failed.length === 0 ? {} : { toolTrace: failed.slice(0, MAX_FAILED_CALLS) },
    diagnostics: others.length === 0 ? [] : [{ severity: 'info', code: 'CALLS_MADE', message: callsMade(others) }],
  };
}

/** `142 calls succeeded: word/get_text 140 (812 ms), word/save 2 (20 ms)`. */
function callsMade(trace: readonly TraceEntry[]): string {
  const tools = new Map<string, { calls: number; ms: number }>();
  for (const { serverId, toolName, durationMs } of trace) {
    const name = visibleLine(`${serverId}/${toolName}`);
    const { calls, ms } = tools.get(name) ?? { calls: 0, ms: 0 };
    tools.set(name, { calls: calls + 1, ms: ms + durationMs });
  }
  const named = [...tools].slice(0, MAX_NAMED_TOOLS).map(([name, { calls, ms }]) => `${name} ${calls} (${ms} ms)`);
  const more = tools.size > MAX_NAMED_TOOLS ? [`and ${tools.size - MAX_NAMED_TOOLS} more tools`] : [];
  const count = trace.length === 1 ? '1 call succeeded' : `${trace.length} calls succeeded`;
  return `${count}: ${[...named, ...more].join(', ')}`;
}

const ASSIGN = 'Assign large values to globalThis.__codemode_result__ instead of logging them';
/** What an entry costs besides its message. */
const ENTRY_CHARACTERS = 45;
/** Of the room for logs, the part for the beginning; the end is where a program says what came out. */
const HEAD_PART = 0.4;

/** The first and the last entries that fit, and one that says which are left out and where all of them are. */
export function logsWithin(logs: readonly LogEntry[], most: number, keep?: () => string): readonly LogEntry[] {
  const cost = ({ message }: LogEntry) => JSON.stringify(message).length + ENTRY_CHARACTERS;
  const total = logs.reduce((sum, entry) => sum + cost(entry), 0);
  if (total <= most) return logs;
  const longest = Math.floor(most / 4);
  const short = (entry: LogEntry): LogEntry => ({ ...entry, message: shortened(entry.message, longest) });
  const head: LogEntry[] = [];
  const tail: LogEntry[] = [];
  let room = most * HEAD_PART;
  for (let at = 0; at < logs.length; at += 1) {
    const entry = short(logs[at] as LogEntry);
    room -= cost(entry);
    if (room < 0) break;
    head.push(entry);
  }
  room = most * (1 - HEAD_PART);
  for (let at = logs.length - 1; at >= head.length; at -= 1) {
    const entry = short(logs[at] as LogEntry);
    room -= cost(entry);
    if (room < 0) break;
    tail.unshift(entry);
  }
  const [first, last] = [head.length + 1, logs.length - tail.length];
  const which = first > last ? 'long lines are shortened' : `lines ${first} to ${last} of ${logs.length} are left out`;
  // The last entry says so, as it does where the program's own limit is reached.
  const all = keep === undefined ? '' : `; await load(${JSON.stringify(keep())}) of @codemode/results has all lines`;
  const message = `logs were truncated: ${which}${all}. ${ASSIGN}`;
  return [...head, ...tail, { level: 'warn', message, timeMs: logs.at(-1)?.timeMs ?? 0 }];
}

function shortened(message: string, most: number): string {
  if (message.length <= most) return message;
  const begin = safeSlice(message, most);
  return `${begin}… (${message.length - begin.length} more characters)`;
}
