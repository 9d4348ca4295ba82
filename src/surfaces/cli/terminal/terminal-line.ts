import { closeSync, openSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ReadStream, WriteStream } from 'node:tty';

/** The terminal itself, not stdin: input piped by a program or an agent must not answer a question. */
const TERMINAL = '/dev/tty';
/** Keys pressed before the question is shown do not answer it. */
const DISCARD_MS = 50;

/** Whether a person is present: the same proof that `codemode approvals approve` requires, and a terminal to ask on. */
export function hasPersonAtTerminal(stream: NodeJS.WriteStream = process.stdout): boolean {
  if (process.stdin.isTTY !== true || stream.isTTY !== true) return false;
  try {
    closeSync(openSync(TERMINAL, 'r+'));
    return true;
  } catch {
    return false;
  }
}

/**
 * What a person typed. `interrupted` for Ctrl-C, `refused` for Ctrl-D, `undefined` if the question was withdrawn or the terminal
 * is gone.
 */
export type TypedLine = { readonly text: string } | 'interrupted' | 'refused' | undefined;

/** Shows a text on the terminal and reads one line from it. The text is shown unchanged: make its foreign parts harmless. */
export async function askLine(text: string, prompt: string, signal: AbortSignal): Promise<TypedLine> {
  if (signal.aborted) return undefined;
  const input = new ReadStream(openSync(TERMINAL, 'r'));
  const output = new WriteStream(openSync(TERMINAL, 'w'));
  // If the terminal is closed, the question ends, not this process.
  output.on('error', () => {});
  try {
    await discardTyped(input);
    output.write(text);
    return await readOne(input, output, prompt, signal);
  } finally {
    input.destroy();
    output.destroy();
  }
}

/** The same for secrets: the keys are not echoed. */
export async function askHiddenLine(prompt: string, signal: AbortSignal): Promise<TypedLine> {
  if (signal.aborted) return undefined;
  const input = new ReadStream(openSync(TERMINAL, 'r'));
  const output = new WriteStream(openSync(TERMINAL, 'w'));
  output.on('error', () => {});
  // The line editor echoes what is typed, so its output is discarded.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    await discardTyped(input);
    output.write(prompt);
    const line = await readOne(input, nowhere, '', signal);
    output.write('\n');
    return line;
  } finally {
    input.destroy();
    output.destroy();
  }
}

/** Shows one line of ours on the terminal, where the questions are: stdout is for the program's answer. */
export function showLine(text: string): void {
  try {
    writeFileSync(TERMINAL, `${text}\n`);
  } catch {
    // The terminal is gone.
  }
}

async function discardTyped(input: ReadStream): Promise<void> {
  const discard = () => {};
  input.on('error', discard);
  input.setRawMode(true);
  input.on('data', discard);
  await new Promise((resolve) => setTimeout(resolve, DISCARD_MS));
  input.off('data', discard);
}

function readOne(input: ReadStream, output: Writable, prompt: string, signal: AbortSignal): Promise<TypedLine> {
  return new Promise((resolve) => {
    const reader = createInterface({ input, output, terminal: true, historySize: 0 });
    const end = (line: TypedLine) => {
      // First, because closing emits `close` again, which would count as a no.
      resolve(line);
      signal.removeEventListener('abort', withdraw);
      reader.close();
    };
    const withdraw = () => {
      output.write('\n');
      end(undefined);
    };
    signal.addEventListener('abort', withdraw);
    input.on('error', () => end(undefined));
    reader.on('line', (text) => end({ text }));
    reader.on('SIGINT', () => {
      output.write('^C\n');
      end('interrupted');
    });
    // Ctrl-D on an empty line.
    reader.on('close', () => resolve('refused'));
    reader.setPrompt(prompt);
    reader.prompt();
  });
}
