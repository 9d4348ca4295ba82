import type { LogEntry } from '../domain/run.js';
import { safeSlice } from '../lib/text/safe-slice.js';

/** The wording for omitted lines. */
export interface LogsLeftOut {
  /** What to do instead of logging so much. */
  readonly advice: string;
  /** Where the others are; called only if lines are omitted. */
  readonly where?: (has: string) => string;
}

export const LOG_LIMIT_REACHED = 'logs were truncated: the limit of ';

/** The cost of an entry besides its message. */
const ENTRY_CHARACTERS = 45;
/** The share of the log room for the beginning. The end is where a program logs its result. */
const HEAD_PART = 0.4;

/** The first and last entries that fit, and one that says which are omitted and where they are. */
export function entriesWithin(
  logs: readonly LogEntry[],
  most: number,
  { advice, where }: LogsLeftOut,
): readonly LogEntry[] {
  if (logs.reduce((sum, entry) => sum + costOf(entry), 0) <= most) return logs;
  // If the program exceeded its log limit, the last entry says so, and its other lines are lost.
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
  const rest = where?.(has) ?? '';
  const all = rest === '' ? '' : `; ${rest}`;
  // The last entry says so, as it does if the program's own limit is reached.
  const lost = limit === undefined ? '' : ` T${limit.message.slice(TRUNCATED.length + 1)}.`;
  const applied = ` The logs of this answer may have ${most} characters.`;
  const message = `${TRUNCATED}${which}${all}.${applied}${lost} ${advice}`;
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
