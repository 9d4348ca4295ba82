import { createHash } from 'node:crypto';
import { size } from '../../../config/schema/units.js';
import { HostError } from '../../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../../domain/limits.js';
import { PROCESS_LANGUAGES, type ProcessLanguage } from '../../../domain/process-program.js';
import type { Ticket } from '../../../profiles/runner/envelope.js';
import { failed, type RunnerError } from '../../../profiles/runner/errors.js';

/** Larger input is not read to the end. */
const MAX_STANDARD_INPUT_BYTES = 256 * 1024 * 1024;

export interface RunnerFlags {
  readonly timeout?: string | true;
  readonly memory?: string | true;
}

/** What the arguments of `codemode runner` ask for. */
export interface Asked {
  readonly language: ProcessLanguage;
  readonly timeoutMs: number | undefined;
  readonly maxMemoryBytes: number | undefined;
}

/** Wrong arguments, as reported on the one line of output. */
export class BadArguments extends Error {
  readonly error: RunnerError;
  constructor(message: string) {
    super(message);
    this.error = failed('InvalidArguments', message);
  }
}

/** Parses the arguments. Throws `BadArguments`. */
export function argumentsOf(
  words: readonly string[],
  language: ProcessLanguage | undefined,
  { timeout, memory }: RunnerFlags,
): Asked {
  const [first, ...more] = words;
  if (first === undefined) throw new BadArguments(`name the interpreter: ${PROCESS_LANGUAGES.join(' or ')}`);
  if (language === undefined)
    throw new BadArguments(`there is no interpreter ${shown(first)}; use ${PROCESS_LANGUAGES.join(' or ')}`);
  if (more[0] !== undefined) throw new BadArguments(`${shown(more[0])} is not known; use --timeout and --memory`);
  return { language, timeoutMs: milliseconds(timeout), maxMemoryBytes: bytes(memory) };
}

function milliseconds(given: string | true | undefined): number | undefined {
  if (given === undefined) return undefined;
  const value = given !== true && /^\d{1,15}$/.test(given) ? Number(given) : 0;
  if (value >= 1) return value;
  throw new BadArguments(`--timeout: expected a whole number of milliseconds, found ${shown(given)}`);
}

function bytes(given: string | true | undefined): number | undefined {
  if (given === undefined) return undefined;
  const parsed = size({ minBytes: 1 }).safeParse(given);
  if (parsed.success) return parsed.data;
  throw new BadArguments(`--memory: expected a size such as 128MB, found ${shown(given)}`);
}

function shown(word: string | true): string {
  return word === true ? 'nothing' : JSON.stringify(word.slice(0, 60));
}

/** The source, unchanged. Its digest is known even if it cannot be run. */
export async function readProgram(ticket: Ticket): Promise<string> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let count = 0;
  if (process.stdin.isTTY) process.stderr.write('reading the program from stdin; end it with Ctrl-D\n');
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    count += chunk.length;
    hash.update(chunk);
    if (count <= MAX_SOURCE_BYTES) chunks.push(chunk);
    if (count > MAX_STANDARD_INPUT_BYTES) break;
  }
  ticket.inputDigest = `sha256:${hash.digest('hex')}`;
  if (count > MAX_SOURCE_BYTES)
    throw new HostError(
      'bad_input',
      `stdin has more than ${MAX_SOURCE_BYTES} bytes, the most a program may have; keep data out of the source`,
    );
  const source = Buffer.concat(chunks);
  if (source.includes(0)) throw new HostError('bad_input', 'stdin has a NUL character; send source text');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(source);
  } catch {
    throw new HostError('bad_input', 'stdin is not valid UTF-8; save the program as UTF-8 and try again');
  }
  if (text.trim() === '') throw new HostError('bad_input', 'stdin is empty; send a program');
  return text;
}
