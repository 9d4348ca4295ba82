import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The mode and owner of a file. */
export interface FileOwner {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Replaces a file atomically and keeps its mode and owner. `check` runs last, right before the rename: if it throws, the file is
 * unchanged.
 */
export async function replaceFile(
  file: string,
  text: string,
  { mode, uid, gid }: FileOwner,
  check: () => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${randomUUID()}`);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      if (uid !== undefined && gid !== undefined) await keepOwner(handle, uid, gid);
      // Not by open(), because the umask would clear bits. After chown(), which clears some too.
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await check();
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Root that edits a user's file leaves the owner unchanged. Other users cannot chown, and need not: they own the file already. */
async function keepOwner(
  handle: { stat(): Promise<{ uid: number; gid: number }>; chown(uid: number, gid: number): Promise<void> },
  uid: number,
  gid: number,
): Promise<void> {
  const own = await handle.stat();
  if (own.uid === uid && own.gid === gid) return;
  await handle.chown(uid, gid).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error;
  });
}
