import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface WriteOptions {
  readonly mode: number;
  /** Whether an existing file is replaced. Otherwise it stays, and `EEXIST` is thrown. */
  readonly replaces: boolean;
}

/** Writes a file whole or not at all: nobody ever reads half of it, and an existing file is not lost by accident. */
export async function writeWhole(file: string, text: string, { mode, replaces }: WriteOptions): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${randomUUID()}`);
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Create the name first: the faster process keeps its file, on every file system.
    if (!replaces) await (await open(file, 'wx', mode)).close();
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}
