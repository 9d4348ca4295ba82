/**
 * Text from outside with nothing in it that a reader can't see: no terminal sequences, no control, bidirectional,
 * zero-width or tag characters, no lone surrogates; every kind of line break is `\n`. People and models are shown what
 * this returns, so that what one of them reads is what the other reads.
 *
 * For text that is only read. A value that must keep its meaning (a key, an enum member) is escaped instead:
 * see `quoteVisibly`.
 */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(TERMINAL_SEQUENCE, '')
    .replace(LINE_BREAK, '\n')
    .replaceAll('\t', ' ')
    .replace(INVISIBLE, (character) => (character === '\n' ? character : ''))
    .replace(LONE_SURROGATE, '\ufffd');
}

/** A double-quoted string literal of the same value, in which every invisible character stands as an escape. */
export function quoteVisibly(value: string): string {
  return escapeInvisible(JSON.stringify(value));
}

/** JSON of the same value, in which every invisible character stands as an escape. */
export function escapeInvisible(json: string): string {
  if (PLAIN.test(json)) return json;
  // A line break can only be one of the indentation: inside a string it is escaped already.
  return json.replace(HIDDEN, (character) => (character === '\n' ? character : escapeCharacter(character)));
}

/**
 * Free text with every character that steers a terminal or shows as nothing written as an escape. Nothing is removed, so
 * two different texts never look the same. Line breaks, tabs, and the joiners inside an emoji stay.
 */
export function escapeHidden(text: string, write: (character: string) => string = escapeCharacter): string {
  if (PLAIN.test(text)) return text;
  return text.replace(HIDDEN_IN_TEXT, (character) => write(character));
}

/** `\u200b`, or `\u{e0041}` beyond the first plane. */
export function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}

/**
 * The same text without the beginning of any tag that a chat template, a client or a page could take for its own:
 * `</system>`, `<|im_start|>`, `<!--`. Other angle brackets (`<owner>/<repo>`, `a < b`) stay. One layer only: what a model
 * makes of plain words can't be decided here.
 */
export function withoutMarkup(text: string, replacement = '‹'): string {
  return text.replace(MARKUP, replacement);
}

/** At most `maximum` UTF-16 units, cut at a space where one is near, with an ellipsis where something is missing. */
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
// CSI, OSC and the two-character sequences, in their 7-bit and 8-bit forms. The classes of neighbouring repetitions are
// disjoint, so hostile text can't make the match backtrack.
const TERMINAL_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[@-Z\\-_]/g;
const LINE_BREAK = /\r\n?|[\u2028\u2029\u0085\v\f]/g;
// Controls, formats (bidi, zero-width, tags), private use, and what renders as nothing (fillers, variation selectors).
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
// The same, and what takes a column but shows as blank: the braille blank, a note without a head, blank hieroglyphs.
const HIDDEN = new RegExp(`${INVISIBLE.source}|[\\u2800\\u{1d159}\\u{13441}\\u{13442}]`, 'gu');
// Text, unlike JSON, has line breaks, tabs, emoji with joiners, and may hold lone surrogates.
const HIDDEN_IN_TEXT = new RegExp(
  `(?<!\\p{Extended_Pictographic})\\ufe0f|(?<!\\p{Extended_Pictographic}\\ufe0f?)\\u200d|\\u200d(?!\\p{Extended_Pictographic})|(?![\\n\\t\\ufe0f\\u200d])(?:${HIDDEN.source}|\\p{Cs})`,
  'gu',
);
const LONE_SURROGATE = /\p{Cs}/gu;
