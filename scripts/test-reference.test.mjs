// @ts-check
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles, ROOT } from './repository.mjs';
import { problemWith } from './test-reference.mjs';

/** Everybody else gets the reference material from these. */
const READERS = ['bench/corpus.mjs', 'scripts/test-reference.mjs', 'test/support/reference.ts'];

test('nothing else looks for the reference material, so that a clone needs nothing beside it', () => {
  const files = ['bench', 'scripts', 'src', 'test'].flatMap((folder) => listFiles(folder, ['.ts', '.mjs']));
  const found = files.filter(
    (file) =>
      !file.endsWith('test-reference.test.mjs') &&
      /env\.CODEMODE_SHARED|['"`](?:\.\.\/)+shared\b/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(found).toEqual(READERS);
});

test('a folder that is not named, not there or not whole is told with what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-reference-'));
  try {
    expect(problemWith(undefined)).toBe('CODEMODE_SHARED is not set. Set it to the folder of the reference material.');
    mkdirSync(join(folder, 'corpus/toolsets'), { recursive: true });
    expect(problemWith(folder)).toBe(
      `${folder} has no seeds. Set CODEMODE_SHARED to the folder of the reference material.`,
    );
    mkdirSync(join(folder, 'seeds'));
    expect(problemWith(folder)).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
