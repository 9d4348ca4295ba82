import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Whose a file is, and who may read it. */
export interface FileOwner {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Replaces a file whole or not at all, and keeps its mode and owner. `check` is the last thing before: what it throws leaves the
 * file as it is.
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
      // Not by open(): the process's mask would take bits away. After chown(), which takes some away too.
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

/** Root who edits somebody's file leaves it theirs. Others may not give files away, and need not: it is theirs already. */
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
