// @ts-check

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findLongTitles, findPhrases, findProblems } from './check-words.mjs';

test('a phrase that reads as translated is found, with its line and what to write', () => {
  expect(findPhrases('a.ts', 'one\nthe run is put away')).toEqual([
    'a.ts:2: "put away": write suspend (glossary: run state)',
  ]);
});

test('a test title over 90 characters is found; the ids at its end do not count', () => {
  const claim = 'a'.repeat(90);
  const text = `test('${claim} [A3, B12]', () => {});\ntest('${claim}b [A3]', () => {});`;
  expect(findLongTitles('a.test.ts', text)).toEqual([
    `a.test.ts:2: "${claim}b": write one claim of at most 90 characters`,
  ]);
  expect(findLongTitles('a.ts', text)).toEqual([]);
});

test('plain words pass', () => {
  expect(findPhrases('a.ts', 'the run is suspended, and resumed when the caller decides')).toEqual([]);
});

test('what the console says is read too: its screens, styles and page', () => {
  const root = mkdtempSync(join(tmpdir(), 'words-'));
  for (const folder of ['src', 'console/src', 'test', 'docs', 'scripts', 'bench'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const name of ['src/a.tsx', 'src/b.css', 'c.html'])
    writeFileSync(join(root, 'console', name), 'a run is put away');
  expect(findProblems(root).map((line) => line.split(':')[0])).toEqual([
    'console/c.html',
    'console/src/a.tsx',
    'console/src/b.css',
  ]);
  rmSync(root, { recursive: true });
});
