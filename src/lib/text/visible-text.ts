/*
 * How external text is shown to people and models: on cards, in tables, logs, prompts and declarations. Everything here uses
 * `escapeHidden`. Nothing is removed: invisible characters are written as escapes (`\u200b`, `\u{e0041}`), so that the reader sees
 * that they are there.
 */

/** Text of several lines that somebody asked for: a source, a result, a log. Only its line breaks and tabs stay unescaped. */
export function visibleText(text: string): string {
  return isPlain(text) ? text : escapeHidden(text.replaceAll('\r\n', '\n'));
}

/** Text inside one of our lines, such as a name: a line break would let it forge a line of its own. */
export function visibleLine(text: string, write: (character: string) => string = escapeCharacter): string {
  return escapeHidden(text, write).replace(/[\t\n]/g, write);
}

/** Sentences on one line: if the text has line breaks or tabs, each run of these and of spaces becomes one space. */
export function visibleSentence(text: string): string {
  if (!/[\n\t]/.test(text)) return escapeHidden(text);
  return escapeHidden(text.replace(/(?:[ \t\n]|\r\n)+/g, ' ').replace(/^ | $/g, ''));
}

/** JSON of the same value, which is still JSON. */
export function visibleJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, null, indent) ?? 'null');
}

/** The same for text that is JSON already. */
export function escapeJson(json: string): string {
  return escapeHidden(json, escapeUnits);
}

/** A double-quoted string literal of TypeScript and JavaScript with the same value. */
export function quoteVisibly(value: string): string {
  return escapeHidden(JSON.stringify(value));
}

/**
 * Writes every character that controls a terminal, reorders text or is invisible with `write`: controls (line breaks and tabs
 * stay), bidirectional, zero-width and tag characters, variation selectors, fillers, unusual blanks, private use, unassigned, lone
 * surrogates. Joiners and selectors inside an emoji stay.
 */
export function escapeHidden(text: string, write: (character: string) => string = escapeCharacter): string {
  return isPlain(text) ? text : text.replace(HIDDEN, (character) => write(character));
}

/** `\u200b`, or `\u{e0041}` beyond the first plane. */
export function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}

/** A character beyond the first plane becomes two escapes: JSON has no other way. */
function escapeUnits(character: string): string {
  return character.split('').map(escapeCharacter).join('');
}

function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/**
 * The same text without the start of any tag that a chat template, a client or a page could interpret: `</system>`, `<|im_start|>`,
 * `<!--`. Other angle brackets (`<owner>/<repo>`, `a < b`) stay. This is one layer only: it cannot decide how a model reads plain
 * words.
 */
export function withoutMarkup(text: string, replacement = '‹'): string {
  return text.replace(MARKUP, replacement);
}

/** At most `maximum` UTF-16 units, cut at a nearby space if there is one, with an ellipsis if something is missing. */
export function clipText(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  let end = maximum - 1;
  if (isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
  const space = text.lastIndexOf(' ', end);
  if (space > Math.max(0, end - 24)) end = space;
  return `${text.slice(0, end).trimEnd()}…`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

const MARKUP =
  /<(?=\s{0,8}(?:[/|!?]|(?:antml|assistant|developer|function|human|im_|important|instruction|invoke|script|system|tool|user)))/gi;
const PLAIN = /^[\x20-\x7e\n]*$/;

const EMOJI = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}?';
// A selector belongs to the emoji, digit or sign before it; a joiner is between two emoji.
const STRAY_SELECTOR = '(?<!\\p{Extended_Pictographic}|[0-9#*](?=\\ufe0f\\u20e3))\\ufe0f';
const STRAY_JOINER = `(?<!${EMOJI}\\ufe0f?)\\u200d|\\u200d(?!\\p{Extended_Pictographic})`;
// All of Unicode's category "other", invisible characters (fillers, variation selectors), line and paragraph separators; and
// characters that take a column but look blank: the braille blank, the null notehead, blank hieroglyphs.
const UNSEEN = '[\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800\\u{1d159}\\u{13441}\\u{13442}]';
const HIDDEN = new RegExp(`${STRAY_SELECTOR}|${STRAY_JOINER}|(?![\\n\\t\\ufe0f\\u200d])${UNSEEN}`, 'gu');
