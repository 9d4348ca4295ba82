import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Compiled packages that no host has used for this long belong to a Go, or a version of ours, that is gone. */
const KEPT_MS = 14 * DAY_MS;
/** Hosts mark a folder as used at least once an hour of use, so a folder used within a day is never removed. */
const IN_USE_MS = DAY_MS;
const SAY_AGAIN_MS = HOUR_MS;
/** All folders together. The whole standard library of Go 1.26 is 130 MB. */
const MAX_BYTES = 1024 * 1024 * 1024;

const FOLDER = /^packages-[0-9a-f]{24}$/;
const LEFT_BEHIND = /^\.pruned-[0-9a-f-]{36}$/;

/** Marks a folder as used, by its modification time. */
export function markPackagesUsed(folder: string, nowMs = Date.now()): void {
  try {
    if (nowMs - statSync(folder).mtimeMs < SAY_AGAIN_MS) return;
    utimesSync(folder, nowMs / 1000, nowMs / 1000);
  } catch {
    // The folder does not exist yet, or belongs to another user. Then it is compiled again.
  }
}

export interface PruningOptions {
  /** The folder that is about to be used. */
  readonly own: string;
  readonly nowMs?: number;
  readonly maxBytes?: number;
}

/**
 * Removes compiled packages of unused toolchains and versions: all older than two weeks, then the oldest beyond the size limit,
 * but none that was used within a day. Each folder is renamed first, so that no other host finds a partial one. Failures are
 * ignored.
 */
export function prunePackages(cacheFolder: string, { own, nowMs = Date.now(), maxBytes = MAX_BYTES }: PruningOptions) {
  try {
    const names = readdirSync(cacheFolder);
    for (const name of names.filter((each) => LEFT_BEHIND.test(each))) remove(join(cacheFolder, name));
    const folders = names
      .filter((name) => FOLDER.test(name))
      .map((name) => ({ path: join(cacheFolder, name), idleMs: nowMs - statSync(join(cacheFolder, name)).mtimeMs }))
      .sort((left, right) => left.idleMs - right.idleMs);
    let bytes = 0;
    for (const { path, idleMs } of folders) {
      bytes += sizeOf(path);
      if (path === own || idleMs < IN_USE_MS) continue;
      if (idleMs > KEPT_MS || bytes > maxBytes) {
        const leaving = join(cacheFolder, `.pruned-${randomUUID()}`);
        renameSync(path, leaving);
        remove(leaving);
      }
    }
  } catch {
    // Another host is pruning too, or the folder cannot be listed. The next start tries again.
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

function sizeOf(folder: string): number {
  return readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
