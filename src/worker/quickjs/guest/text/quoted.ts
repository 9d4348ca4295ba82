/**
 * Reads the string that starts with the quote at `from`. `end` is where reading continues. Without a value, `end` is where the
 * string broke off: at a line break, or at the end of the text.
 */
export function readQuoted(
  text: string,
  from: number,
  to: number,
  isRaw: boolean,
): { readonly value?: string; readonly end: number } {
  const quote = text[from] as string;
  const isTriple = text.startsWith(quote.repeat(3), from);
  const close = isTriple ? quote.repeat(3) : quote;
  const parts: string[] = [];
  let at = from + close.length;
  let start = at;
  while (at < to) {
    const character = text[at] as string;
    if (character === quote && (!isTriple || text.startsWith(close, at))) {
      parts.push(text.slice(start, at));
      return { value: parts.join(''), end: at + close.length };
    }
    if (character === '\n' && !isTriple) return { end: at };
    if (character === '\\' && isRaw) at += 2;
    else if (character === '\\') {
      parts.push(text.slice(start, at));
      const escape = escapeAt(text, at + 1);
      parts.push(escape.value);
      at = escape.end;
      start = at;
    } else at += 1;
  }
  return { end: to };
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ...([
    ['n', '\n'],
    ['t', '\t'],
    ['r', '\r'],
    ['b', '\b'],
    ['f', '\f'],
    ['v', '\v'],
    ['a', '\x07'],
    ['\n', ''],
  ] as const),
  ...['\\', "'", '"', '/'].map((same) => [same, same] as const),
]);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** The escape after a backslash. An unknown escape stays unchanged, as in Python. */
function escapeAt(text: string, at: number): { readonly value: string; readonly end: number } {
  const letter = text[at] ?? '';
  const short = SHORT_ESCAPES.get(letter);
  if (short !== undefined) return { value: short, end: at + 1 };
  const digits = HEX_DIGITS.get(letter);
  if (digits !== undefined) {
    const hex = text.slice(at + 1, at + 1 + digits);
    const code = Number.parseInt(hex, 16);
    if (hex.length === digits && /^[\da-f]+$/i.test(hex) && code <= 0x10ffff)
      return { value: String.fromCodePoint(code), end: at + 1 + digits };
  }
  const octal = /^[0-7]{1,3}/.exec(text.slice(at, at + 3))?.[0];
  if (octal !== undefined) return { value: String.fromCharCode(Number.parseInt(octal, 8)), end: at + octal.length };
  return { value: `\\${letter}`, end: at + 1 };
}
