import { lstat, realpath, stat } from 'node:fs/promises';
import { HostError } from '../../domain/errors.js';
import { readRegularFile, UnreadableFile } from '../../lib/files/read-regular-file.js';
import { type FileOwner, replaceFile } from '../../lib/files/replace-file.js';

/** Claude Code keeps its history in the same file. */
export const MAX_CLIENT_FILE_BYTES = 64 * 1024 * 1024;
/** A new file may later hold secrets. */
const NEW_FILE_MODE = 0o600;

/** A client's file as it was when it was read. */
export interface ClientFile {
  /** With links resolved: links themselves are never replaced. */
  readonly path: string;
  /** Absent if there is no file. */
  readonly text?: string;
  readonly owner?: FileOwner;
}

/** Reads a file of another program. Throws `bad_input` if it cannot be a settings file. */
export async function readClientFile(file: string): Promise<ClientFile> {
  const link = await lstat(file).catch(ignoreMissing(file));
  if (link === undefined) return { path: file };
  const path = await realpath(file).catch(ignoreMissing(file));
  if (path === undefined)
    throw new HostError(
      'bad_input',
      `${file} is a link to a file that does not exist; create that file or remove the link`,
    );
  try {
    const { mode, uid, gid } = await stat(path);
    const bytes = await readRegularFile(path, MAX_CLIENT_FILE_BYTES);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { path, text, owner: { mode: mode & 0o7777, uid, gid } };
  } catch (error) {
    if (error instanceof UnreadableFile)
      throw new HostError(
        'bad_input',
        error.why === 'too_large'
          ? `${file} has ${error.size} bytes; at most ${MAX_CLIENT_FILE_BYTES} are read`
          : `${file} is not an ordinary file`,
      );
    if (error instanceof TypeError)
      throw new HostError('bad_input', `${file} is not text in UTF-8; nothing was written. Save it as UTF-8 first.`);
    throw asBadInput(error, file, 'read');
  }
}

/** Writes the file atomically. Throws `bad_input` if another program changed it since it was read. */
export async function writeClientFile(before: ClientFile, text: string): Promise<void> {
  const { path, owner = { mode: NEW_FILE_MODE } } = before;
  try {
    await replaceFile(path, text, owner, async () => {
      const now = await readClientFile(path);
      if (now.text !== before.text)
        throw new HostError(
          'bad_input',
          `${path} was changed by another program in the meantime; nothing was written. Close that client, then type the command again.`,
        );
    });
  } catch (error) {
    throw asBadInput(error, path, 'written');
  }
}

function ignoreMissing(file: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw asBadInput(error, file, 'read');
  };
}

function asBadInput(error: unknown, file: string, done: 'read' | 'written'): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof HostError || code === undefined) return error;
  const why = code === 'EACCES' || code === 'EPERM' || code === 'EROFS' ? 'check its permissions' : code;
  return new HostError('bad_input', `${file} could not be ${done}: ${why}`, { cause: error });
}
