import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Numbered copies that are kept, besides the first copy. */
const KEPT = 3;

/**
 * Removes the oldest copies that edits of a file left behind. `newest` was just made, as `STEM` or `STEM` with a number. The one
 * without a number is the file before our first edit, and always stays.
 */
export async function pruneCopies(newest: string, stem: string): Promise<void> {
  const folder = dirname(newest);
  const start = basename(stem);
  const names = await readdir(folder).catch(() => []);
  const numbered = names.filter((name) => name.startsWith(start) && /^[.-]\d+$/.test(name.slice(start.length)));
  const copies = await Promise.all(
    numbered.map(async (name) => {
      const path = join(folder, name);
      // A copy that is already gone is harmless.
      return { path, madeAtMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
    }),
  );
  const others = copies.filter(({ path }) => path !== newest).sort((left, right) => right.madeAtMs - left.madeAtMs);
  // A copy that cannot be removed is harmless.
  await Promise.all(others.slice(KEPT - 1).map(({ path }) => rm(path, { force: true }).catch(() => {})));
}
