import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Numbered copies that are kept, besides the first of all. */
const KEPT = 3;

/**
 * Removes the oldest of the copies that edits of a file left behind. `newest` was made now, as `STEM` or `STEM` with a
 * number: the one without a number is the file as it was before our first edit, and always stays.
 */
export async function pruneCopies(newest: string, stem: string): Promise<void> {
  const folder = dirname(newest);
  const start = basename(stem);
  const names = await readdir(folder).catch(() => []);
  const numbered = names.filter((name) => name.startsWith(start) && /^[.-]\d+$/.test(name.slice(start.length)));
  const copies = await Promise.all(
    numbered.map(async (name) => {
      const path = join(folder, name);
      // One that is gone already is no trouble.
      return { path, madeAtMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
    }),
  );
  const others = copies.filter(({ path }) => path !== newest).sort((left, right) => right.madeAtMs - left.madeAtMs);
  // A copy that cannot be removed is only in the way.
  await Promise.all(others.slice(KEPT - 1).map(({ path }) => rm(path, { force: true }).catch(() => {})));
}
