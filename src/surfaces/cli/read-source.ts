import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { HostError } from '../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../domain/limits.js';

/** What a file should hold, in the words of its refusals. */
export interface TextKind {
  readonly name: string;
  readonly maxBytes?: number;
  /** Where what does not fit belongs. */
  readonly advice?: string;
}

const PROGRAM: TextKind = { name: 'program', advice: 'keep data out of the source' };

/** Reads a program from a file, or from standard input for `-`. Each way it can be unusable has its own words. */
export async function readSource(file: string, kind: TextKind = PROGRAM): Promise<string> {
  const bytes = file === '-' ? await readStandardInput(kind) : await readFile(file, kind);
  const name = file === '-' ? 'standard input' : file;
  const empty = () => new HostError('bad_input', `${name} is empty; write a ${kind.name} into it`);
  if (bytes.length === 0) throw empty();
  if (bytes.includes(0)) throw new HostError('bad_input', `${name} is a binary file, not source text`);
  let source: string;
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HostError('bad_input', `${name} is not valid UTF-8; save it as UTF-8 and try again`);
  }
  if (source.trim() === '') throw empty();
  return source;
}

async function readFile(file: string, kind: TextKind): Promise<Buffer> {
  let handle: FileHandle;
  try {
    // Not blocking: a FIFO without a writer would hold us for ever.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new HostError('bad_input', cannotOpen(file, (error as NodeJS.ErrnoException).code), { cause: error });
  }
  try {
    const stat = await handle.stat();
    if (stat.isDirectory())
      throw new HostError('bad_input', `${file} is a directory; name the file with the ${kind.name}`);
    if (!stat.isFile())
      throw new HostError('bad_input', `${file} is not a regular file; pipe it in instead: codemode run - < ${file}`);
    if (stat.size > mostOf(kind)) throw tooLarge(file, kind);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function readStandardInput(kind: TextKind): Promise<Buffer> {
  if (process.stdin.isTTY) process.stderr.write(`reading the ${kind.name} from standard input; end it with Ctrl-D\n`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostOf(kind)) throw tooLarge('standard input', kind);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function cannotOpen(file: string, code: string | undefined): string {
  if (code === 'ENOENT') return `${file} does not exist; check the path`;
  if (code === 'EACCES') return `${file} cannot be read: permission denied`;
  return `${file} cannot be opened (${code ?? 'unknown reason'})`;
}

function mostOf({ maxBytes = MAX_SOURCE_BYTES }: TextKind): number {
  return maxBytes;
}

function tooLarge(file: string, kind: TextKind): HostError {
  const { name, advice = 'make it smaller' } = kind;
  return new HostError(
    'bad_input',
    `${file} has more than ${mostOf(kind)} bytes, the most a ${name} may have; ${advice}`,
  );
}
