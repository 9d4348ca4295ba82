import { HostError } from '../../../domain/errors.js';
import { askLine, hasPersonAtTerminal } from './terminal-line.js';

export interface Question {
  /** Shown before the question, on the same terminal. Make foreign parts of it harmless. */
  readonly text?: string;
  /** What an empty line means. */
  readonly byDefault?: 'yes' | 'no';
  /** Where the question is shown. It must be a terminal, or the question is not asked. */
  readonly stream?: NodeJS.WriteStream;
  /** Set if "no" continues the command: Ctrl-C and Ctrl-D then end it with `cancelled` instead of meaning "no". */
  readonly cancels?: boolean;
}

/**
 * Asks the person at the terminal. Everything except a clear yes is a no, including Ctrl-C, Ctrl-D and a closed terminal. Keys
 * that were pressed before the question was shown do not answer it, and neither does piped input.
 */
export async function askYesNo(
  question: string,
  { text = '', byDefault = 'no', stream = process.stdout, cancels = false }: Question = {},
): Promise<boolean> {
  if (!hasPersonAtTerminal(stream)) return false;
  const choices = byDefault === 'yes' ? '[Y/n]' : '[y/N]';
  const line = await askLine(text, `${question} ${choices} `, new AbortController().signal);
  const isRefused = line === 'refused' || line === 'interrupted';
  if (isRefused && cancels) throw new HostError('cancelled', 'interrupted; nothing was changed');
  if (line === undefined || isRefused) return false;
  const answer = line.text.trim();
  return answer === '' ? byDefault === 'yes' : /^y(es)?$/i.test(answer);
}
