import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Ended, type Home, PROGRAM, type RunOptions } from './cli.js';
import { skipped } from './needs.js';

const SCRIPT = '/usr/bin/script';

export const needsTerminal = existsSync(SCRIPT)
  ? {}
  : skipped('script of util-linux, which makes a terminal, is not installed');

/** How long a test waits for a text to appear. */
const SEEN_WITHIN_MS = 30_000;

/** The built program on its own terminal, and a person who reads what is shown and then types. */
export class Terminal implements Disposable {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown[]>;
  #shown = '';
  #read = 0;

  /** `shell`: instead of the program alone, a line for `sh` in which `$CODEMODE` starts it. */
  constructor(home: Home, words: readonly string[], { shell }: { readonly shell?: string } = {}) {
    const program = [process.execPath, PROGRAM].map(quoted).join(' ');
    const line = (shell ?? '$CODEMODE').replaceAll('$CODEMODE', [program, ...words.map(quoted)].join(' '));
    this.#child = spawn(SCRIPT, ['-qec', line, '/dev/null'], {
      cwd: home.folder,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
        HOME: home.folder,
        SHELL: '/bin/sh',
        TERM: 'xterm-256color',
        CODEMODE_HOME: home.path('state'),
        CODEMODE_KEYRING: 'file',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#closed = once(this.#child, 'close');
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#shown += text;
    });
  }

  /** Everything that was shown so far. */
  get shown(): string {
    return this.#shown;
  }

  /** Waits until this is shown, after what was waited for before. Gives what was shown since then. */
  async sees(text: string): Promise<string> {
    const until = Date.now() + SEEN_WITHIN_MS;
    for (;;) {
      const at = this.#shown.indexOf(text, this.#read);
      if (at >= 0) {
        const since = this.#shown.slice(this.#read, at + text.length);
        this.#read = at + text.length;
        return since;
      }
      if (Date.now() > until || this.#child.exitCode !== null)
        throw new Error(`never shown: ${JSON.stringify(text)}; shown: ${this.#shown.slice(this.#read)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Waits for the end; gives the exit status, and what was shown since it was last waited for. */
  async ended(): Promise<{ readonly status: number | null; readonly shown: string }> {
    const [status] = (await this.#closed) as [number | null];
    return { status, shown: this.#shown.slice(this.#read) };
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }
}

export interface TerminalOptions extends RunOptions {
  /** A line for the shell in place of the program and its words; `$PROGRAM` starts the program. */
  readonly line?: string;
}

/** Runs the program on its own terminal, to its end; both its outputs arrive as one. */
export function onTerminal(
  home: Home,
  words: readonly string[],
  input: string,
  { env = {}, line = `$PROGRAM ${words.map(quoted).join(' ')}`, ...options }: TerminalOptions = {},
): Promise<Ended> {
  // The words that follow `sh -c` are its parameters, which this one does not look at.
  const through = ['sh', '-c', `exec ${SCRIPT} -qec "$COMMAND" /dev/null`];
  const command = line.replaceAll('$PROGRAM', `${quoted(process.execPath)} ${quoted(PROGRAM)}`);
  const own = { TERM: 'xterm-256color', SHELL: '/bin/sh', COMMAND: command };
  const typesAfter = input === '' ? {} : { typesAfter: QUESTION };
  return home.run([], { ...typesAfter, ...options, through, input, env: { ...own, ...env } });
}

/** A question of ours, at its end. */
const QUESTION = /\[(?:y\/N|Y\/n)[^\]]*\] /;

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
