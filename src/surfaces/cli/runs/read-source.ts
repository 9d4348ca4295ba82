import { HostError } from '../../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../../domain/limits.js';
import { readRegularFile, UnreadableFile } from '../../../lib/files/read-regular-file.js';

/** What a file should contain, for error messages. */
export interface TextKind {
  readonly name: string;
  readonly maxBytes?: number;
  /** What to do about content that is too large. */
  readonly advice?: string;
}

const PROGRAM: TextKind = { name: 'program', advice: 'keep data out of the source' };

/** Reads a program from a file, or from stdin for `-`. Each reason to refuse it has its own message. */
export async function readSource(file: string, kind: TextKind = PROGRAM): Promise<string> {
  const bytes = file === '-' ? await readStdin(kind) : await readNamedFile(file, kind);
  const name = file === '-' ? 'stdin' : file;
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

/** The bytes of a file that the user named. Throws `bad_input` if it is not an ordinary file, or is too large. */
export async function readNamedFile(file: string, kind: TextKind): Promise<Buffer> {
  try {
    return await readRegularFile(file, mostOf(kind));
  } catch (error) {
    if (!(error instanceof UnreadableFile))
      throw new HostError('bad_input', cannotOpen(file, (error as NodeJS.ErrnoException).code, kind), { cause: error });
    if (error.why === 'too_large') throw tooLarge(file, kind);
    if (error.why === 'folder')
      throw new HostError('bad_input', `${file} is a directory; name the file with the ${kind.name}`);
    const instead = kind === PROGRAM ? `pipe it in instead: codemode run - < ${file}` : 'copy its contents to one';
    throw new HostError('bad_input', `${file} is not a regular file; ${instead}`);
  }
}

async function readStdin(kind: TextKind): Promise<Buffer> {
  if (process.stdin.isTTY) process.stderr.write(`reading the ${kind.name} from stdin; end it with Ctrl-D\n`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostOf(kind)) throw tooLarge('stdin', kind);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function cannotOpen(file: string, code: string | undefined, kind: TextKind): string {
  // Most other interpreters have an option for a program on the command line, so that it is tried here too.
  if (code === 'ENOENT' && kind === PROGRAM && /[\s();]/.test(file))
    return `${file} is not a file; to run a program without a file, pipe it in: echo 'PROGRAM' | codemode run -`;
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
