import { expect, test } from 'vitest';
import { RecentlyRead } from './recently-read.js';

function counted() {
  const recent = new RecentlyRead<string>();
  let reads = 0;
  const read = (how: string, source: string) =>
    recent.of(how, source, () => {
      reads++;
      return `${how}: ${source}`;
    });
  return { read, reads: () => reads };
}

test('the same source is read once, and in another way once more', () => {
  const { read, reads } = counted();
  expect([read('js', 'a'), read('js', 'a'), read('ts', 'a'), read('js', 'b')]).toEqual([
    'js: a',
    'js: a',
    'ts: a',
    'js: b',
  ]);
  expect(reads()).toBe(3);
});

test('few are kept, and none that is long', () => {
  const { read, reads } = counted();
  for (let index = 0; index <= 16; index++) read('js', `source ${index}`);
  read('js', 'source 16');
  expect(reads()).toBe(17);
  read('js', 'source 0');
  expect(reads()).toBe(18);
  const long = ' '.repeat(40_000);
  read('js', long);
  read('js', long);
  expect(reads()).toBe(20);
});
