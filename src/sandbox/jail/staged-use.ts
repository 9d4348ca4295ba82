import { closeSync, constants, lstatSync, openSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A copy that no host has used for so long belongs to a build that is gone. */
const KEPT_MS = 7 * DAY_MS;
/** How often a host says again that it uses a copy: far more often than copies are discarded. */
export const SAY_AGAIN_MS = DAY_MS;

const STAGED = /^[0-9a-f]{32}-/;
const TEMPORARY = /^\.[0-9a-f-]{36}$/;
const MARK = '.used';

/**
 * Says that a staged file is in use, by the time of an empty file beside it. Not by its own times: it may be a link to a
 * program of the system, whose times are not ours to change.
 */
export function markUsed(target: string): void {
  const mark = `${target}${MARK}`;
  closeSync(openSync(mark, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o644));
  const now = new Date();
  utimesSync(mark, now, now);
}

/**
 * Removes what no host has used for a week, and what one left behind in the middle of a copy. A worker that runs from such
 * a file keeps it: what is mounted outlives its name. Nothing here is worth failing for.
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
    // Another host prunes too, or the folder cannot be listed: the next start tries again.
  }
}

function lastUseMs(path: string): number {
  const mark = lstatSync(`${path}${MARK}`, { throwIfNoEntry: false });
  // Without a mark: when it was linked or copied to here.
  return mark?.mtimeMs ?? lstatSync(path).ctimeMs;
}
