import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { markPackagesUsed, prunePackages } from './packages-pruning.js';

const DAY_SECONDS = 24 * 60 * 60;

function openCache(ages: Readonly<Record<string, number>>) {
  const cache = mkdtempSync(join(tmpdir(), 'codemode-packages-'));
  const now = Date.now() / 1000;
  const folders = Object.fromEntries(
    Object.entries(ages).map(([digit, days]) => {
      const folder = join(cache, `packages-${digit.repeat(24)}`);
      mkdirSync(folder);
      writeFileSync(join(folder, 'fmt.a'), Buffer.alloc(100));
      utimesSync(folder, now - days * DAY_SECONDS, now - days * DAY_SECONDS);
      return [digit, folder];
    }),
  );
  return { cache, folders, left: () => Object.keys(folders).filter((digit) => existsSync(folders[digit] ?? '')) };
}

test('packages unused for two weeks are deleted, whichever host compiled them', () => {
  const { cache, folders, left } = openCache({ a: 0, b: 13, c: 15 });
  prunePackages(cache, { own: folders['a'] ?? '' });
  expect(left()).toEqual(['a', 'b']);
  expect(readdirSync(cache).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('beyond a size the oldest go, but none that is in use or about to be', () => {
  const { cache, folders, left } = openCache({ a: 12, b: 0.5, c: 2, d: 3 });
  prunePackages(cache, { own: folders['a'] ?? '', maxBytes: 250 });
  expect(left()).toEqual(['a', 'b', 'c']);
  prunePackages(cache, { own: folders['a'] ?? '', maxBytes: 1 });
  expect(left()).toEqual(['a', 'b']);
});

test('use of packages is marked, and other folders are nobody\u2019s to prune', () => {
  const { cache, folders, left } = openCache({ a: 20 });
  mkdirSync(join(cache, 'packages-of-somebody-else'));
  utimesSync(join(cache, 'packages-of-somebody-else'), 1, 1);
  markPackagesUsed(folders['a'] ?? '');
  expect(Date.now() - statSync(folders['a'] ?? '').mtimeMs).toBeLessThan(DAY_SECONDS * 1000);
  prunePackages(cache, { own: '' });
  expect(left()).toEqual(['a']);
  expect(existsSync(join(cache, 'packages-of-somebody-else'))).toBe(true);
  prunePackages(join(cache, 'nothing'), { own: '' });
});
