import { expect, test } from 'vitest';
import { markedNumber, roundedNumber, withMarkedNumbers, withNumbers } from './exact-numbers.js';

const BIG = '1152921504606846977';

test('whole numbers that JavaScript rounds survive being read and written', () => {
  const json = `{"id":${BIG},"list":[-${BIG},9007199254740993,1${'0'.repeat(30)}],"x":1.5,"s":"${BIG}"}`;
  const value = JSON.parse(withMarkedNumbers(json)) as { id: string; list: string[]; s: string };
  expect([value.id, ...value.list].map(markedNumber)).toEqual([
    BIG,
    `-${BIG}`,
    '9007199254740993',
    `1${'0'.repeat(30)}`,
  ]);
  expect(markedNumber(value.s)).toBeUndefined();
  expect(withNumbers(JSON.stringify(value))).toBe(json);
});

test('a text without such numbers stays as it is, fractions and strings included', () => {
  for (const json of [
    '{"a":9007199254740991,"b":0.12345678901234567890,"c":1e20,"d":12345678901234567890.5,"e":1234567890123456789e2}',
    '["a \\" 12345678901234567891", "\\\\", 12345678901234567000]',
    '{"12345678901234567891":[1e-12345678901234567891]}',
  ])
    expect(withMarkedNumbers(json)).toBe(json);
});

test('a number that nobody can read is not kept, but is told', () => {
  const json = `[${'9'.repeat(5_000)},${BIG}]`;
  expect(withNumbers(JSON.stringify(JSON.parse(withMarkedNumbers(json))))).toBe(`[null,${BIG}]`);
  expect(roundedNumber(json)).toHaveLength(5_000);
});

test('the first number that would be rounded is told', () => {
  expect(roundedNumber(`["${BIG}",1,${BIG},9007199254740993]`)).toBe(BIG);
  expect(roundedNumber('[1, 2.5, "9007199254740993"]')).toBeUndefined();
});
