import { escapeHidden, escapeJson, visibleLine } from '../../../lib/text/visible-text.js';
import { plain, terminalWidth } from '../terminal/terminal.js';

/**
 * How foreign text is shown to a person who is about to agree to it: an approval, a configuration, an import. No text can
 * look like a line of ours, push the rest off the screen, or look like a different text.
 */
export interface ConsentText {
  readonly rows: readonly string[];
  /** Something is missing. A text that cannot be shown whole must not be agreed to here. */
  readonly isCut: boolean;
}

export interface ConsentOptions {
  /** Text before the mark of each row. */
  readonly indent?: string;
  /** Columns of the terminal; by default those of stdout. Without a terminal, rows are not wrapped. */
  readonly width?: number | undefined;
  /** Characters shown of one value, and rows shown of all of it. `Infinity` shows everything. */
  readonly maxCharacters?: number;
  readonly maxRows?: number;
}

const MARK = '| ';
/** Maximum for one value. */
export const MAX_CHARACTERS = 2_000;
const MAX_ROWS = 150;
const MAX_WORD = 200;
/** Indentation of code and of our own JSON. More than this is padding. */
const MAX_INDENTATION = 16;
const MIN_ROOM = 20;
/** A row that fills the last column makes some terminals start another. */
const SPARE_COLUMNS = 1;

/** Three or more blanks of any kind, fillers and look-alikes included. */
const BLANKS = /[\p{Zs}\t\u115f\u1160\u2800\u3164\uffa0\u{1d159}\u{13441}\u{13442}]{3,}/gu;
const BLANK_LINES = /(?:\n[\p{Zs}\t\u2800\u3164]*){3,}(?=\n)/gu;

/** Text of one or more lines. Each row, also of a wrapped line, starts with the indent and `| `. */
export function consentText(text: string, options: ConsentOptions = {}): ConsentText {
  const { text: kept, isCut } = cut(withCountedBlanks(text), options.maxCharacters ?? MAX_CHARACTERS);
  return rowsOf(escapeHidden(kept), isCut, options);
}

/** The same for a value, as JSON in which each string and key is cut and escaped separately. */
export function consentJson(value: unknown, options: ConsentOptions = {}): ConsentText {
  const most = options.maxCharacters ?? MAX_CHARACTERS;
  let isCut = false;
  const json = JSON.stringify(
    value,
    (_, part: unknown) => {
      if (typeof part !== 'string') return part;
      const shown = cut(withCountedBlanks(part), most);
      isCut ||= shown.isCut;
      return shown.text;
    },
    2,
  );
  return rowsOf(escapeJson(withCountedBlanks(json ?? 'undefined')), isCut, options);
}

/**
 * Foreign text after a prefix of ours that is as wide as the indent. None of its other rows starts at the left edge, where a
 * question of ours could stand. Nothing is cut or counted.
 */
export function hangingText(text: string, indent: string, width = terminalWidth()): string {
  const room = width === undefined ? Infinity : Math.max(MIN_ROOM, width - indent.length - SPARE_COLUMNS);
  return plain(text)
    .split('\n')
    .flatMap((line) => [...wrapped(line, room)])
    .join(`\n${indent}`);
}

/**
 * A name, a word or a path inside a line of ours. An ordinary one is unchanged, any other is in quotes with escapes, so that two
 * different words never look the same.
 */
export function consentWord(word: string, maxCharacters = MAX_WORD): string {
  if (ORDINARY_WORD.test(word) && word.length <= maxCharacters) return word;
  return escapeJson(withCountedBlanks(JSON.stringify(cut(word, maxCharacters).text)));
}

/** Whether `consentWord` shows only a part of the word. */
export function isWordCut(word: string, maxCharacters = MAX_WORD): boolean {
  return word.length > maxCharacters;
}

/** A sentence inside a line of ours: on one line, escaped, and at most a few rows long. */
export function consentLine(text: string): string {
  return visibleLine(withCountedBlanks(cut(text, MAX_SENTENCE).text));
}

const MAX_SENTENCE = 500;
const ORDINARY_WORD = /^[\w@%+=:,./~-]+$/;

function rowsOf(text: string, isCut: boolean, options: ConsentOptions): ConsentText {
  const {
    indent = '  ',
    width = terminalWidth(),
    maxRows = options.maxCharacters === Infinity ? Infinity : MAX_ROWS,
  } = options;
  const room = width === undefined ? Infinity : Math.max(MIN_ROOM, width - indent.length - MARK.length - SPARE_COLUMNS);
  const rows: string[] = [];
  for (const line of text.split('\n')) for (const row of wrapped(line, room)) rows.push(`${indent}${MARK}${row}`);
  if (rows.length <= maxRows) return { rows, isCut };
  const left = rows.length - maxRows;
  return { rows: [...rows.slice(0, maxRows), `${indent}… ${counted(left, 'more row')}`], isCut: true };
}

/**
 * Every character outside ASCII counts as two columns: terminals disagree about many of them, and a row that the terminal wraps
 * would continue at the left edge, where our own lines start.
 */
function* wrapped(line: string, room: number): Generator<string> {
  let row = '';
  let used = 0;
  for (const character of line) {
    const columns = character >= ' ' && character <= '~' ? 1 : character === '\t' ? TAB_COLUMNS : 2;
    if (used + columns > room) {
      yield row;
      row = '';
      used = 0;
    }
    row += character;
    used += columns;
  }
  yield row;
}

const TAB_COLUMNS = 8;
/** What precedes the indentation of a line of code: nothing, or its line number in an excerpt. */
const NUMBERED = /^(?:[> ]{0,4}\d{1,7} \|)?$/;

function withCountedBlanks(text: string): string {
  return text
    .replace(BLANK_LINES, (lines) => `\n[${counted(lines.split('\n').length - 1, 'empty line')}]`)
    .replace(BLANKS, (blanks: string, at: number, whole: string) => {
      const before = whole.slice(whole.lastIndexOf('\n', at - 1) + 1, at);
      const isIndentation = (at === 0 || NUMBERED.test(before)) && /^ *$/.test(blanks);
      return isIndentation && blanks.length <= MAX_INDENTATION ? blanks : `[${counted([...blanks].length, 'blank')}]`;
    });
}

function cut(text: string, most: number): { readonly text: string; readonly isCut: boolean } {
  if (text.length <= most) return { text, isCut: false };
  // Does not split a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most;
  return { text: `${text.slice(0, end)}… ${counted(text.length - end, 'more character')}`, isCut: true };
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
