import { summaryOf, type TrustReview } from '../../../config/trust/trust.js';
import { askYesNo } from '../terminal/ask-yes-no.js';
import { plainLine, styled, terminalWidth } from '../terminal/terminal.js';
import { hasPersonAtTerminal } from '../terminal/terminal-line.js';
import { consentText, consentWord, isWordCut, MAX_CHARACTERS } from './consent-text.js';

/** Whether a person is present: the question is visible, and the answer comes from a keyboard. */
export function canAskForTrust(): boolean {
  // stdout may carry a protocol or be a pipe.
  return hasPersonAtTerminal(process.stderr);
}

/** Shows what the file would do and asks. Everything except a plain yes is a no. A file that is too long to show is not asked about. */
export async function askForTrust(review: TrustReview): Promise<boolean> {
  const { text, isCut } = renderReview(review, process.stderr);
  if (!isCut) return askYesNo('Trust this file?', { text: `${text}\n`, stream: process.stderr });
  process.stderr.write(
    `${text}\nIt has values too long to be shown whole, so it cannot be trusted here. Read the file, then name it with --config.\n`,
  );
  return false;
}

/** The commands, URLs and settings of a file. All of it is foreign text, in rows that are marked as such. */
export function renderReview(
  review: TrustReview,
  stream: NodeJS.WriteStream,
): { readonly text: string; readonly isCut: boolean } {
  const { file, linkTarget, state, commands, addresses, settings, variables, replaces, sameNames } = review;
  const page = new Page(stream);
  const { word } = page;
  const link = linkTarget === undefined ? '' : ` (a link to ${word(linkTarget)})`;
  page.title(
    `${word(file)}${link} ${state === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet'}.`,
  );
  if (commands.length > 0) page.title('Commands that it would start:');
  for (const { server, words, cwd, environment, values } of commands) {
    page.row(`${word(server)}: ${words.map(word).join(' ')}`);
    if (cwd !== undefined) page.row(`in the folder ${word(cwd)}`, DETAIL);
    for (const { name, value, loadsCode } of values)
      page.row(`with the variable ${word(name)}${loadsCode ? ', which can load code' : ''}: ${word(value)}`, DETAIL);
    const passedOn = environment.filter((name) => values.every((given) => given.name !== name));
    if (passedOn.length > 0) page.row(`with your variables ${passedOn.map(word).join(', ')}`, DETAIL);
  }
  if (addresses.length > 0) page.title('Addresses that it would contact:');
  for (const { server, url, sends, values } of addresses) {
    page.row(`${word(server)}: ${word(url)}`);
    for (const { name, value } of values) page.row(`sending ${word(name)}: ${word(value)}`, DETAIL);
    const others = sends.filter((name) => values.every((given) => given.name !== name));
    if (others.length > 0) page.row(`sending ${others.map(word).join(', ')}`, DETAIL);
  }
  if (settings.length > 0) page.title('Protected settings that it would change:');
  for (const { key, value } of settings) page.row(`${word(key)}: ${page.json(value)}`);
  if (variables.length > 0) page.title('Environment variables whose values it would use:');
  if (variables.length > 0) page.row(variables.map(word).join(', '));
  if (sameNames.length > 0) {
    page.title(`Names of servers in ${word(replaces ?? '')} that it would use for other servers:`);
    page.row(sameNames.map(word).join(', '));
  }
  // Last, so that a file of a thousand lines cannot scroll it away.
  page.line('');
  page.line(`This file would ${plainLine(summaryOf(review))}.`);
  page.line('Trust covers this content; a changed file asks again.');
  return page;
}

const DETAIL = '    ';

/** Our own lines, with rows of foreign text between them. */
class Page {
  readonly #stream: NodeJS.WriteStream;
  readonly #lines: string[] = [];
  isCut = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  get text(): string {
    return this.#lines.join('\n');
  }

  /** An ordinary word unchanged, any other in quotes. */
  readonly word = (word: string): string => {
    this.isCut ||= isWordCut(word, MAX_CHARACTERS);
    return consentWord(word, MAX_CHARACTERS);
  };

  /** A value that is already JSON. */
  json(json: string): string {
    const { rows, isCut } = consentText(json, { indent: '', width: Infinity });
    this.isCut ||= isCut;
    return rows.map((row) => row.slice(2)).join(' ');
  }

  title(text: string): void {
    this.#lines.push(styled('bold', text, this.#stream));
  }

  line(text: string): void {
    this.#lines.push(text);
  }

  row(text: string, indent = '  '): void {
    const width = terminalWidth(this.#stream);
    this.#lines.push(...consentText(text, { indent, width, maxCharacters: Infinity }).rows);
  }
}
