import { expect, test } from 'vitest';
import { SeededRandom } from './random.js';

const words = (random: SeededRandom, count: number) => Array.from({ length: count }, () => random.word());

test('the same seed draws the same numbers, always: journals depend on it', () => {
  expect(words(new SeededRandom(1n), 4)).toEqual([
    5180492295206395165n,
    12380297144915551517n,
    13389498078930870103n,
    5599127315341312413n,
  ]);
});

test('different seeds draw different numbers', () => {
  const first = Array.from({ length: 1_000 }, (_, seed) => new SeededRandom(BigInt(seed)).word());
  expect(new Set(first).size).toBe(1_000);
});

test('any number is a seed: zero, negative, larger than 64 bits', () => {
  for (const seed of [0n, -1n, 2n ** 64n, 2n ** 100n + 5n]) {
    const drawn = words(new SeededRandom(seed), 100);
    expect(new Set(drawn).size).toBe(100);
    expect(drawn.every((word) => word >= 0n && word < 2n ** 64n)).toBe(true);
  }
});

test('continues from its saved state: suspended programs depend on it', () => {
  const whole = new SeededRandom(99n);
  const expected = words(whole, 10);
  const first = new SeededRandom(99n);
  const drawn = words(first, 4);
  expect([...drawn, ...words(new SeededRandom(first.state), 6)]).toEqual(expected);
});

test('bytes are bytes, and all of them come', () => {
  const random = new SeededRandom(7n);
  const bytes = Array.from({ length: 10_000 }, () => random.byte());
  expect(new Set(bytes).size).toBe(256);
  expect(bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)).toBe(true);
});
