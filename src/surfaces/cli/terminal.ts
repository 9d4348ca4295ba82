/** What people see on a terminal. Text from programs, tools and files is foreign: it must not steer the terminal. */

/** Characters that move the cursor, change direction or hide: C0 and C1 controls, bidi marks, line separators. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what it is for
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

export function plain(text: string): string {
  return text.replace(STEERING, escaped);
}

/** JSON that is the same value to a parser and harmless to a terminal. */
export function printableJson(value: unknown, isPretty = false): string {
  return JSON.stringify(value, null, isPretty ? 2 : undefined).replace(STEERING, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';
const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Colours only where somebody looks. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return stream.isTTY === true && stream.hasColors() ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
}

/** What was got over and somebody should know: on standard error, so that answers stay clean. */
export function warn(warnings: readonly string[]): void {
  for (const warning of warnings) {
    process.stderr.write(`codemode: ${styled('yellow', 'warning', process.stderr)}: ${plain(warning)}\n`);
  }
}
