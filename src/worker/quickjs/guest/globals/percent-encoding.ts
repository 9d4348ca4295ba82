// Percent-encoding of the URL standard. Every set is one regular expression: the engine's matcher is compiled C, while a loop over
// code points is interpreted here and about thirty times slower.

/** Everything outside printable ASCII. */
export const C0_CONTROL_SET = /[^\x20-\x7e]/gu;
export const FRAGMENT_SET = /[^\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e]/gu;
export const QUERY_SET = /[^\x21\x24-\x3b\x3d\x3f-\x7e]/gu;
export const SPECIAL_QUERY_SET = /[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e]/gu;
export const PATH_SET = /[^\x21\x24-\x3b\x3d\x40-\x5d\x5f\x61-\x7a\x7c\x7e]/gu;
export const USERINFO_SET = /[^\x21\x24-\x2e\x30-\x39\x41-\x5a\x5f\x61-\x7a\x7e]/gu;
const FORM_SET = /[^*\-.0-9A-Z_a-z]/gu;

/** Encodes every code point that `set` matches as its UTF-8 bytes; lone surrogates become U+FFFD. */
export function percentEncode(text: string, set: RegExp): string {
  // `search` ignores and keeps lastIndex, so one global expression serves both as a test and for replacing.
  if (text.search(set) < 0) return text;
  return wellFormed(text).replace(set, encodeCodePoint);
}

/** The serialiser of application/x-www-form-urlencoded, for one name or value. */
export function formEncode(text: string): string {
  if (text.search(FORM_SET) < 0) return text;
  return wellFormed(text).replace(FORM_SET, encodeFormCodePoint);
}

/** The corresponding parser: `+` is a space, and bytes that are not UTF-8 become U+FFFD. */
export function formDecode(text: string): string {
  return percentDecode(text.indexOf('+') < 0 ? text : text.replaceAll('+', ' '));
}

/** Decodes `%XX`, then decodes the bytes as UTF-8 and keeps a byte order mark. */
export function percentDecode(text: string): string {
  if (text.indexOf('%') < 0) return wellFormed(text);
  try {
    return decodeURIComponent(wellFormed(text));
  } catch {
    return decodeLeniently(wellFormed(text));
  }
}

/** Web IDL's USVString. */
export function wellFormed(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed();
}

function encodeCodePoint(character: string): string {
  const code = character.charCodeAt(0);
  // encodeURIComponent leaves part of ASCII unescaped, so ASCII is encoded here.
  return code < 0x80 ? hexByte(code) : encodeURIComponent(character);
}

function encodeFormCodePoint(character: string): string {
  return character === ' ' ? '+' : encodeCodePoint(character);
}

function hexByte(byte: number): string {
  return (byte < 16 ? '%0' : '%') + byte.toString(16).toUpperCase();
}

// One run of well-formed UTF-8 in escapes, or a single escape, which is then either valid alone or the first byte of an invalid
// sequence. The alternatives are the rows of the standard's table of well-formed byte sequences.
const TAIL = '%[89ab][0-9a-f]';
const ESCAPES = new RegExp(
  [
    '%[0-7][0-9a-f]',
    `%(?:c[2-9a-f]|d[0-9a-f])${TAIL}`,
    `%e0%[ab][0-9a-f]${TAIL}`,
    `%e[1-9a-cef]${TAIL}${TAIL}`,
    `%ed%[89][0-9a-f]${TAIL}`,
    `%f0%[9ab][0-9a-f]${TAIL}${TAIL}`,
    `%f[1-3]${TAIL}${TAIL}${TAIL}`,
    `%f4%8[0-9a-f]${TAIL}${TAIL}`,
    // The rest is invalid. A maximal subpart of a sequence is replaced as a whole.
    `%e0%[ab][0-9a-f]`,
    `%e[1-9a-cef]${TAIL}`,
    `%ed%[89][0-9a-f]`,
    `%f0%[9ab][0-9a-f](?:${TAIL})?`,
    `%f[1-3]${TAIL}(?:${TAIL})?`,
    `%f4%8[0-9a-f](?:${TAIL})?`,
    '%[89a-f][0-9a-f]',
  ].join('|'),
  'gi',
);

function decodeLeniently(text: string): string {
  return text.replace(ESCAPES, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return '\ufffd';
    }
  });
}
