import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { realPathOf } from './real-path.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'codemode-real-')));
mkdirSync(join(root, 'data/deep'), { recursive: true });
writeFileSync(join(root, 'data/a.txt'), 'x');
symlinkSync('..', join(root, 'data/up'));
symlinkSync('deep/../../other', join(root, 'data/missing'));
symlinkSync('/etc', join(root, 'data/etc'));
symlinkSync('loop', join(root, 'data/loop'));
afterAll(() => rmSync(root, { recursive: true }));

test.each([
  ['data/a.txt', 'data/a.txt'],
  ['data//./deep/../a.txt', 'data/a.txt'],
  ['data/up/data/up', ''],
  ['data/deep/new/file.txt', 'data/deep/new/file.txt'],
  ['data/up/new.txt', 'new.txt'],
  ['data/missing/new.txt', 'other/new.txt'],
])('%s leads to %s', (path, real) => {
  expect(realPathOf(`${root}/${path}`)).toBe(join(root, real));
});

test('a link out leads out, and links in a circle end', () => {
  expect(realPathOf(join(root, 'data/etc/none'))).toBe('/etc/none');
  expect(realPathOf(join(root, 'data/loop/x'))).toBe(join(root, 'data/loop/x'));
  expect(realPathOf('/')).toBe('/');
});
