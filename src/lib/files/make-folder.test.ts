import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, makeFolderSync } from './make-folder.js';

test('folders are made with all that are missing above them, and again without complaint', async () => {
  const base = await mkdtemp(join(tmpdir(), 'codemode-folder-'));
  try {
    await makeFolder(join(base, 'a', 'b'), 0o700);
    await makeFolder(join(base, 'a', 'b'), 0o700);
    makeFolderSync(join(base, 'a', 'c', 'd'), 0o700);
    makeFolderSync(join(base, 'a', 'c', 'd'), 0o700);
    expect((await stat(join(base, 'a', 'c', 'd'))).isDirectory()).toBe(true);
    expect((await stat(join(base, 'a'))).mode & 0o777).toBe(0o700);
    await writeFile(join(base, 'file'), '');
    await expect(makeFolder(join(base, 'file'), 0o700)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolder(join(base, 'file', 'c'), 0o700)).rejects.toMatchObject({ code: 'ENOTDIR' });
  } finally {
    await rm(base, { recursive: true });
  }
});

test('a place where nothing can be made is an error, not a wait without end', async () => {
  await expect(makeFolder('/proc/nowhere/deeper', 0o700)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(() => makeFolderSync('/proc/nowhere/deeper', 0o700)).toThrow('ENOENT');
});
