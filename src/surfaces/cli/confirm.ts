import { createInterface } from 'node:readline/promises';

/** Whether a person can be asked here, and sees what is asked. */
export function isOnTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Asks on the terminal. Everything but a clear yes is a no: also Ctrl-C, Ctrl-D and an empty line. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } catch {
    return false;
  } finally {
    terminal.close();
  }
}
