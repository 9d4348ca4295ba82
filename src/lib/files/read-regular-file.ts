import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Why a file is not read: it is not a regular file, or it is too large. */
export class UnreadableFile extends Error {
  readonly why: 'folder' | 'not_regular' | 'too_large';
  /** The file has at least this many bytes. */
  readonly size: number;

  constructor(why: UnreadableFile['why'], size = 0) {
    super(`the file cannot be read: ${WORDS[why]}`);
    this.why = why;
    this.size = size;
  }
}

const WORDS = { folder: 'it is a folder', not_regular: 'it is not an ordinary file', too_large: 'it is too large' };

export interface ReadOptions {
  /** Refuses to follow a symbolic link. */
  readonly isNoLink?: boolean;
  /** Checks the open file before anything is read. Throws if it is the wrong one. */
  readonly check?: (found: Awaited<ReturnType<FileHandle['stat']>>) => void;
}

/**
 * The bytes of a regular file, up to a maximum. A pipe or a device is refused without waiting for it. A file that grows while it is
 * read, or that claims to be empty and is not, is read no further than the maximum. Throws `UnreadableFile`, or the system's error
 * if the file cannot be opened.
 */
export async function readRegularFile(
  file: string,
  maxBytes: number,
  { isNoLink = false, check }: ReadOptions = {},
): Promise<Buffer> {
  const handle = await openToRead(file, isNoLink ? constants.O_NOFOLLOW : 0);
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw new UnreadableFile('folder');
    if (!found.isFile()) throw new UnreadableFile('not_regular');
    check?.(found);
    if (found.size > maxBytes) throw new UnreadableFile('too_large', found.size);
    return await readAtMost(handle, maxBytes, found.size);
  } finally {
    await handle.close();
  }
}

/** Non-blocking: a pipe without a writer would block us forever. */
async function openToRead(file: string, flags: number): Promise<FileHandle> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    // A socket, or a device that does not exist.
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') throw new UnreadableFile('not_regular');
    throw error;
  }
}

async function readAtMost(handle: FileHandle, maxBytes: number, expected: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    const part = Buffer.allocUnsafe(Math.min(maxBytes - length + 1, Math.max(expected - length + 1, PART_BYTES)));
    const { bytesRead } = await handle.read(part, 0, part.length, null);
    if (bytesRead === 0) return Buffer.concat(parts, length);
    length += bytesRead;
    if (length > maxBytes) throw new UnreadableFile('too_large', length);
    parts.push(part.subarray(0, bytesRead));
  }
}

const PART_BYTES = 16 * 1024;
