import { closeSync, constants, lstatSync, openSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A copy that no host has used for this long belongs to a build that is gone. */
const KEPT_MS = 7 * DAY_MS;
/** How often a host marks a copy as used again: far more often than copies are discarded. */
export const SAY_AGAIN_MS = DAY_MS;

const STAGED = /^[0-9a-f]{32}-/;
const TEMPORARY = /^\.[0-9a-f-]{36}$/;
const MARK = '.used';

/**
 * Marks a staged file as used, by the time of an empty file beside it. Its own times stay unchanged: it may be a link to a program
 * of the system.
 */
export function markUsed(target: string): void {
  const mark = `${target}${MARK}`;
  closeSync(openSync(mark, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o644));
  const now = new Date();
  utimesSync(mark, now, now);
}

/**
 * Removes files that no host has used for a week, and partial copies. A worker that runs from such a file keeps it: a mount
 * outlives the name of its file. Failures are ignored.
 */
export function pruneStaged(folder: string, nowMs = Date.now()): void {
  try {
    const names = readdirSync(folder);
    for (const name of names) {
      const isMark = name.endsWith(MARK);
      if (isMark ? names.includes(name.slice(0, -MARK.length)) : !STAGED.test(name) && !TEMPORARY.test(name)) continue;
      if (nowMs - lastUseMs(join(folder, name)) <= KEPT_MS) continue;
      rmSync(join(folder, name), { force: true });
      rmSync(join(folder, `${name}${MARK}`), { force: true });
    }
  } catch {
    // Another host is pruning too, or the folder cannot be listed. The next start tries again.
  }
}

function lastUseMs(path: string): number {
  const mark = lstatSync(`${path}${MARK}`, { throwIfNoEntry: false });
  // Without a mark: the time at which it was linked or copied here.
  return mark?.mtimeMs ?? lstatSync(path).ctimeMs;
}
