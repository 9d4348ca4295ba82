// @ts-check
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { problemWith } from './test-reference.mjs';

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
