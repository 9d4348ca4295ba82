import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and its parents. Node's own `recursive` never returns if a parent exists and still answers ENOENT, as everything
 * below `/proc` does.
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await isFolder(path))) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path || (await isFolder(parent))) throw error;
    await makeFolder(parent, mode);
    await makeFolder(path, mode);
  }
}

/** The synchronous version. */
export function makeFolderSync(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && isFolderSync(path)) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path || isFolderSync(parent)) throw error;
    makeFolderSync(parent, mode);
    makeFolderSync(path, mode);
  }
}

function isFolderSync(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
