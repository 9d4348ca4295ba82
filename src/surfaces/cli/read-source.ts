import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { HostError } from '../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../domain/limits.js';

/** Reads a program, or what it is given, from a file, or from standard input for `-`. Each way it can be unusable has its own words. */
export async function readSource(file: string, what = 'a program'): Promise<string> {
  const bytes = file === '-' ? await readStandardInput() : await readFile(file);
  const name = file === '-' ? 'standard input' : file;
  if (bytes.length === 0) throw new HostError('bad_input', `${name} is empty; write ${what} into it`);
  if (bytes.includes(0)) throw new HostError('bad_input', `${name} is a binary file, not source text`);
  let source: string;
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HostError('bad_input', `${name} is not valid UTF-8; save it as UTF-8 and try again`);
  }
  if (source.trim() === '') throw new HostError('bad_input', `${name} is empty; write ${what} into it`);
  return source;
}

async function readFile(file: string): Promise<Buffer> {
  let handle: FileHandle;
  try {
    // Not blocking: a FIFO without a writer would hold us for ever.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new HostError('bad_input', cannotOpen(file, (error as NodeJS.ErrnoException).code), { cause: error });
  }
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new HostError('bad_input', `${file} is a directory; name the file with the program`);
    if (!stat.isFile())
      throw new HostError('bad_input', `${file} is not a regular file; pipe it in instead: codemode run - < ${file}`);
    if (stat.size > MAX_SOURCE_BYTES) throw tooLarge(file, stat.size);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function readStandardInput(): Promise<Buffer> {
  if (process.stdin.isTTY) process.stderr.write('reading the program from standard input; end it with Ctrl-D\n');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_SOURCE_BYTES) throw tooLarge('standard input', bytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function cannotOpen(file: string, code: string | undefined): string {
  if (code === 'ENOENT') return `${file} does not exist; check the path`;
  if (code === 'EACCES') return `${file} cannot be read: permission denied`;
  return `${file} cannot be opened (${code ?? 'unknown reason'})`;
}

function tooLarge(name: string, bytes: number): HostError {
  return new HostError(
    'bad_input',
    `${name} has ${bytes > MAX_SOURCE_BYTES ? 'more than ' : ''}${MAX_SOURCE_BYTES} bytes, the most a program may have; keep data out of the source`,
  );
}
