import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { needs } from '../../support/needs.js';
import { needsTerminal, Terminal } from '../../support/terminal.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TUTORIAL = join(ROOT, 'docs/tutorial.md');

/** A fenced block, and what the comment before it says: `file: NAME`, `answers: TEXT` or `not run: REASON`. */
interface Block {
  readonly language: string;
  readonly text: string;
  readonly note: string;
}

test('the tutorial runs as it is written, and prints what it shows', {
  ...needsTerminal,
  ...needs('bubblewrap'),
  timeout: 180_000,
}, async () => {
  using home = new Home();
  installCommands(home);
  const blocks = blocksIn(readFileSync(TUTORIAL, 'utf8'));
  const shown: string[] = [];
  const expected: string[] = [];
  for (const [index, { language, text, note }] of blocks.entries()) {
    if (note.startsWith('file: ')) home.write(note.slice('file: '.length), text);
    if (language !== 'sh' || note.startsWith('not run: ')) continue;
    const answer = /^answers: (.*)$/.exec(note)?.[1];
    const next = blocks[index + 1];
    shown.push(`$ ${text}${sameEverywhere(await onTerminal(home, text, answer), home)}`);
    expected.push(`$ ${text}${sameEverywhere(next?.language === 'text' ? next.text : '', home)}`);
  }
  expect(shown.length).toBeGreaterThan(8);
  expect(shown).toEqual(expected);
});

/** `codemode` as an installation has it, and `npx` that starts the servers of node_modules without asking the registry. */
function installCommands(home: Home): void {
  mkdirSync(home.path('bin'));
  symlinkSync(PROGRAM, home.path('bin/codemode'));
  const npx = home.write(
    'bin/npx',
    `#!/bin/sh\nserver=$2; shift 2\nexec node ${ROOT}/node_modules/$server/dist/index.js "$@"\n`,
  );
  chmodSync(npx, 0o755);
}

async function onTerminal(home: Home, command: string, answer: string | undefined): Promise<string> {
  const shell = `stty cols 120; export PATH=${home.path('bin')}:$PATH; cd ~; ${command}`;
  using terminal = new Terminal(home, [], { shell });
  if (answer !== undefined) {
    await terminal.sees('Allow? [y/N/run/hour] ');
    terminal.type(`${answer}\n`);
  }
  const { status } = await terminal.ended();
  if (status !== 0 && status !== 3) throw new Error(`status ${status}: ${terminal.shown}`);
  return terminal.shown;
}

function blocksIn(markdown: string): Block[] {
  const found = markdown.matchAll(/(?:<!-- (.+?) -->\n)?^```(\w+)\n(.*?)^```$/gms);
  return [...found].map(([, note = '', language = '', text = '']) => ({ note, language, text }));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const TERMINAL_CODES = /\x1b\[[\d;]*[A-Za-z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a progress line is erased before the next one is written
const ERASED = /^.*\x1b\[2K/gm;

/** Removes what differs between machines and runs: ids, times, sizes, the home, versions of servers, terminal codes. */
function sameEverywhere(text: string, home: Home): string {
  return (
    text
      .replace(/\r/g, '')
      .replace(ERASED, '')
      .replace(TERMINAL_CODES, '')
      .replaceAll(home.folder, '/home/me')
      .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'RUN')
      .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z/g, 'TIME')
      .replace(/\b[\da-f]{64}\b/g, 'DIGEST')
      .replace(/\b[\da-f]{8}\b/g, 'RUN')
      // A duration, and in the audit log the bytes after it.
      .replace(/ +[\d.,]+ (?:ms|s)\b(?: +\d+)?/g, ' DURATION')
      .replace(/approved by \S+/g, 'approved by me')
      .replace(/"\/[^"]*\/codemode"/g, '"CODEMODE"')
      .replace(/\b\d+\.\d+\.\d+\b/g, 'VERSION')
      .replace(/"\/[^"]*\/node"/g, '"NODE"')
      .replace(/ +/g, ' ')
      .replace(/ +$/gm, '')
      .trim()
  );
}
