import { chmodSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ProgramCache } from './program-cache.js';

const open = (maxBytes: number) =>
  new ProgramCache({ folder: mkdtempSync(join(tmpdir(), 'codemode-programs-')), maxBytes });

test('a program is found under the key that it was stored under, and under no other', () => {
  const cache = open(1_000);
  const path = cache.store(ProgramCache.keyOf('a', 'bc'), Buffer.from('program'));
  expect(cache.find(ProgramCache.keyOf('a', 'bc'))).toBe(path);
  expect(cache.find(ProgramCache.keyOf('ab', 'c'))).toBeUndefined();
  expect(readFileSync(path, 'utf8')).toBe('program');
});

test('a program that was changed or truncated is not run, and is stored again', () => {
  const cache = open(1_000);
  const key = ProgramCache.keyOf('x');
  const path = cache.store(key, Buffer.from('program'));
  chmodSync(path, 0o755);
  writeFileSync(path, 'prog');
  expect(cache.find(key)).toBeUndefined();
  expect(cache.find(key)).toBeUndefined();
  cache.store(key, Buffer.from('program'));
  expect(cache.find(key)).toBe(path);
});

test('programs that have not been used for the longest time make room', () => {
  const cache = open(25);
  const keys = ['a', 'b', 'c'].map((name) => ProgramCache.keyOf(name));
  const [first, second, third] = keys as [string, string, string];
  utimesSync(cache.store(first, Buffer.alloc(10, 'a')), 1, 1);
  utimesSync(cache.store(second, Buffer.alloc(10, 'b')), 2, 2);
  // Used just now, so it is the other one that goes.
  expect(cache.find(first)).toBeDefined();
  cache.store(third, Buffer.alloc(10, 'c'));
  expect(keys.map((key) => cache.find(key) !== undefined)).toEqual([true, false, true]);
});
