import { createInterface } from 'node:readline/promises';
import { summaryOf, type TrustReview } from '../../config/trust.js';
import { escapeInvisible } from '../../lib/visible-text.js';
import { plain, styled } from './terminal.js';

/** A person sits there: what is asked can be seen, and the answer comes from a keyboard. */
export function canAskForTrust(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Shows what the file would do and asks. Everything but a plain yes is a no, the end of the input included. */
export async function askForTrust(review: TrustReview): Promise<boolean> {
  // On standard error: standard output may belong to a protocol or a pipe.
  process.stderr.write(`${renderReview(review, process.stderr)}\n`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([terminal.question('Trust this file? [y/N] '), closed]);
    return /^(y|yes)$/i.test(answer.trim());
  } catch {
    return false;
  } finally {
    terminal.close();
  }
}

/** The commands, addresses and settings of a file, one line each. All of it is foreign text. */
export function renderReview(review: TrustReview, stream: NodeJS.WriteStream): string {
  const { file, linkTarget, state, commands, addresses, settings, variables } = review;
  const title = (text: string) => styled('bold', text, stream);
  const link = linkTarget === undefined ? '' : ` (a link to ${shown(linkTarget)})`;
  const lines = [
    title(`${plain(file)}${link} ${state === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet'}.`),
  ];
  if (commands.length > 0) lines.push(title('Commands that it would start:'));
  for (const { server, words, cwd, environment } of commands) {
    lines.push(`  ${shown(server)}: ${words.map(shown).join(' ')}`);
    if (cwd !== undefined) lines.push(`    in the folder ${shown(cwd)}`);
    if (environment.length > 0) lines.push(`    with the variables ${environment.map(shown).join(', ')}`);
  }
  if (addresses.length > 0) lines.push(title('Addresses that it would contact:'));
  for (const { server, url, sends } of addresses)
    lines.push(
      `  ${shown(server)}: ${shown(url)}${sends.length === 0 ? '' : `, sending ${sends.map(shown).join(', ')}`}`,
    );
  if (settings.length > 0) lines.push(title('Protected settings that it would change:'));
  for (const { key, value } of settings) lines.push(`  ${visible(key)}: ${visible(value)}`);
  if (variables.length > 0)
    lines.push(title('Environment variables whose values it would use:'), `  ${variables.map(shown).join(', ')}`);
  // Last, so that a file of a thousand lines cannot scroll it away.
  lines.push(
    '',
    `This file would ${plain(summaryOf(review))}.`,
    'Trust covers this content; a changed file asks again.',
  );
  return lines.join('\n');
}

/**
 * A word as it is where it is a plain one, else in quotes: a line break cannot begin another line, an escape code cannot
 * steer the terminal, invisible letters are seen, and a long blank cannot push the rest out of sight.
 */
export function shown(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : visible(JSON.stringify(word));
}

/** JSON text, or a key as it is written, with nothing in it that cannot be seen. */
function visible(text: string): string {
  // A backslash of the text itself is doubled already, so what is written here means nothing else.
  return plain(escapeInvisible(text)).replace(/ {9,}/g, (blank) => `\\u0020{${blank.length}}`);
}
