import { colourChoice, columnsSetting } from '../../../config/variables/terminal-settings.js';
import { visibleJson, visibleLine, visibleText } from '../../../lib/text/visible-text.js';

export { visibleLine as plainLine, visibleText as plain };

/** What people see on a terminal. Text from programs, tools and files is foreign: it must not control the terminal. */

/** Foreign text of several lines below a line of ours: indented, so that none of its lines looks like ours. */
export function plainBlock(text: string, indent = '  '): string {
  return visibleText(text).replace(/^/gm, indent);
}

/** JSON with the same value for a parser, and harmless for a terminal. */
export function printableJson(value: unknown, isPretty = false): string {
  return visibleJson(value, isPretty ? 2 : undefined);
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';
const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Colours if the terminal supports them or the user asked for them. Foreign text must already be made plain. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return text !== '' && isColoured(stream) ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
}

function isColoured(stream: NodeJS.WriteStream): boolean {
  const choice = colourChoice();
  return choice === 'terminal' ? stream.isTTY === true && stream.hasColors() : choice === 'always';
}

/** The maximum line width. Undefined without a terminal: then nothing is cut. */
export function terminalWidth(stream: NodeJS.WriteStream = process.stdout): number | undefined {
  return stream.isTTY === true ? (columnsSetting() ?? (stream.columns || FALLBACK_COLUMNS)) : undefined;
}

/** Some terminals do not know their width, and report 0. */
const FALLBACK_COLUMNS = 80;

/** Notes on stderr that no server is configured, so that stdout holds the response only. */
export function noteNothingConfigured(note: string | undefined): void {
  if (note !== undefined) process.stderr.write(`codemode: ${visibleText(note)}\n`);
}

/** Warnings go to stderr, so that stdout holds only the response. */
export function warn(warnings: readonly string[]): void {
  for (const warning of warnings) {
    // Further lines are indented: they may be a server's text, and must not look like another message of ours.
    const text = visibleText(warning).replaceAll('\n', '\n  ');
    process.stderr.write(`codemode: ${styled('yellow', 'warning', process.stderr)}: ${text}\n`);
  }
}
