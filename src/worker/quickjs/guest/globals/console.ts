// biome-ignore-all lint/style/useTemplate: a program can patch what template literals call, see primordials.ts.
import { textOfTable } from './console-table.js';
import { cutNote, textOfArguments } from './console-text.js';
import { currentTimeMs, indexOf, repeat, slice, smallerOf, toText, toWellFormed } from './primordials.js';

export type ConsoleLevel = 'debug' | 'log' | 'warn' | 'error';

export interface ConsoleOptions {
  /** A longer message is cut, with a note; an enormous object is not even serialized. Default: 1 MiB. */
  readonly maxMessageCharacters?: number;
  /** The clock of `time` and similar methods, in milliseconds. Default: `Date.now` as saved when the image was built. */
  readonly now?: () => number;
}

const DEFAULT_MAX_MESSAGE_CHARACTERS = 1_048_576;
/** Deeper groups are not indented further. */
const MAX_INDENT_LEVELS = 16;

type Log = (...values: unknown[]) => void;

/** The guest's `console`. Every method is a plain function that works without its object. */
export interface GuestConsole {
  log: Log;
  info: Log;
  debug: Log;
  warn: Log;
  error: Log;
  trace: Log;
  assert: (condition?: unknown, ...values: unknown[]) => void;
  dir: (value?: unknown) => void;
  table: (data?: unknown, columns?: unknown) => void;
  group: Log;
  groupCollapsed: Log;
  groupEnd: () => void;
  count: (label?: unknown) => void;
  countReset: (label?: unknown) => void;
  time: (label?: unknown) => void;
  timeLog: (label?: unknown, ...values: unknown[]) => void;
  timeEnd: (label?: unknown) => void;
}

/**
 * A console that passes every call, as one string, to `write`. Arguments are joined by one space and never read as a format. It
 * keeps working after a program has patched the built-in prototypes.
 */
export function createConsole(
  write: (level: ConsoleLevel, message: string) => void,
  options: ConsoleOptions = {},
): GuestConsole {
  const maxCharacters = options.maxMessageCharacters ?? DEFAULT_MAX_MESSAGE_CHARACTERS;
  const now = options.now ?? currentTimeMs;
  const counts = { __proto__: null } as unknown as Record<string, number>;
  const starts = { __proto__: null } as unknown as Record<string, number>;
  let groups = 0;

  const writeText = (level: ConsoleLevel, text: string): void => {
    const levels = smallerOf(groups, MAX_INDENT_LEVELS);
    // Half of a surrogate pair has no UTF-8: the engine would write three characters in its place.
    write(level, toWellFormed(levels === 0 ? text : indentLines(text, repeat('  ', levels), maxCharacters)));
  };
  const writeAll = (level: ConsoleLevel, values: readonly unknown[]): void =>
    writeText(level, textOfArguments(values, maxCharacters));
  const label = (value: unknown): string => (value === undefined ? 'default' : textOfArguments([value], maxCharacters));
  const elapsed = (name: string): string => name + ': ' + toText(now() - (starts[name] as number)) + 'ms';
  const group: Log = (...values) => {
    if (values.length > 0) writeAll('log', values);
    groups++;
  };

  const console: GuestConsole = {
    log: (...values) => writeAll('log', values),
    info: (...values) => writeAll('log', values),
    debug: (...values) => writeAll('debug', values),
    warn: (...values) => writeAll('warn', values),
    error: (...values) => writeAll('error', values),
    trace: (...values) => {
      const text = textOfArguments(values, maxCharacters);
      const stack = currentStack();
      writeText('debug', 'Trace' + (text === '' ? '' : ': ' + text) + (stack === '' ? '' : '\n' + stack));
    },
    assert: (condition, ...values) => {
      if (condition) return;
      const text = textOfArguments(values, maxCharacters);
      writeText('error', text === '' ? 'Assertion failed' : 'Assertion failed: ' + text);
    },
    dir: (value) => writeAll('log', [value]),
    table: (data, columns) => writeText('log', textOfTable(data, columns, maxCharacters)),
    group,
    groupCollapsed: group,
    groupEnd: () => {
      if (groups > 0) groups--;
    },
    count: (value) => {
      const name = label(value);
      counts[name] = (counts[name] ?? 0) + 1;
      writeText('log', name + ': ' + toText(counts[name]));
    },
    countReset: (value) => {
      const name = label(value);
      if (counts[name] === undefined) writeText('warn', "Count for '" + name + "' does not exist");
      else counts[name] = 0;
    },
    time: (value) => {
      const name = label(value);
      if (starts[name] === undefined) starts[name] = now();
      else writeText('warn', "Timer '" + name + "' already exists");
    },
    timeLog: (value, ...values) => {
      const name = label(value);
      if (starts[name] === undefined) return writeText('warn', "Timer '" + name + "' does not exist");
      const text = textOfArguments(values, maxCharacters);
      writeText('log', text === '' ? elapsed(name) : elapsed(name) + ' ' + text);
    },
    timeEnd: (value) => {
      const name = label(value);
      if (starts[name] === undefined) return writeText('warn', "Timer '" + name + "' does not exist");
      writeText('log', elapsed(name));
      delete starts[name];
    },
  };
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
  return console;
}

/** Empty if a program has installed its own stack hook. */
function currentStack(): string {
  try {
    const { stack } = new Error();
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}

/** Indentation can multiply the length of a text with many short lines, so it has the same limit. */
function indentLines(text: string, indent: string, maxCharacters: number): string {
  let output = indent;
  let start = 0;
  for (;;) {
    const end = indexOf(text, '\n', start);
    output += end < 0 ? slice(text, start) : slice(text, start, end + 1);
    if (end < 0) return output;
    if (output.length > maxCharacters) return slice(output, 0, maxCharacters) + cutNote(maxCharacters);
    output += indent;
    start = end + 1;
  }
}
