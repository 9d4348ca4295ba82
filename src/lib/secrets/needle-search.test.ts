import { expect, test } from 'vitest';
import { NeedleSearch } from './needle-search.js';

function places(needles: readonly string[], text: string, gramSize: 2 | 4): string[] {
  const found: string[] = [];
  new NeedleSearch(needles, gramSize).visit(text, (start, needle) => {
    found.push(`${start}:${needles[needle]}`);
    return false;
  });
  return found;
}

test('a needle is found at every place it can have, also across the pieces that are read at once', () => {
  const needle = 'n33dle-é'; // one wide of ASCII, and two bytes in UTF-8
  for (const start of [0, 1, 2, 3, 7, 65_530, 65_533, 65_535, 65_536, 131_071])
    for (const gramSize of [2, 4] as const)
      expect(places([needle], `${'.'.repeat(start)}${needle}...`, gramSize)).toEqual([`${start}:${needle}`]);
});

test('needles that contain each other are all found, each once', () => {
  expect(places(['abcdefgh', 'cdefghij', 'abcdefghij'], '--abcdefghij--', 4).sort()).toEqual([
    '2:abcdefgh',
    '2:abcdefghij',
    '4:cdefghij',
  ]);
});

test('characters that only look alike by their low byte are no hit', () => {
  expect(places(['abcdefgh'], 'šbcdefgh abcdefgh', 4)).toEqual(['9:abcdefgh']);
});

test('it agrees with looking for each needle by itself', () => {
  const letters = 'ab-_';
  let seed = 7;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const word = (length: number) => Array.from({ length }, () => letters[random(letters.length)]).join('');
  for (let round = 0; round < 200; round++) {
    const needles = [...new Set(Array.from({ length: 5 }, () => word(7 + random(3))))];
    const text = Array.from({ length: 30 }, () => (random(3) === 0 ? needles[random(needles.length)] : word(5))).join(
      '',
    );
    const expected = needles.flatMap((needle) =>
      [...text].flatMap((_, start) => (text.startsWith(needle, start) ? [`${start}:${needle}`] : [])),
    );
    for (const gramSize of [2, 4] as const) expect(places(needles, text, gramSize).sort()).toEqual(expected.sort());
  }
});

test('a visitor that has had enough is left alone', () => {
  let visits = 0;
  new NeedleSearch(['needle-1'], 4).visit('needle-1 needle-1', () => {
    visits++;
    return true;
  });
  expect(visits).toBe(1);
});
