import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

test('Python reads and writes the golden frames as TypeScript does', needs('python3'), () => {
  const script = path('../../src/worker/python/test_frames.py');
  const { status, stderr } = spawnSync('/usr/bin/python3', ['-B', script, path('../../src/wire/golden')], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/Ran [6-9] tests/);
  expect(status, stderr).toBe(0);
});
