import { expect, test } from 'vitest';
import { duration, flag, integer, size } from './units.js';

test('durations are milliseconds', () => {
  const read = (input: unknown) => duration().safeParse(input).data;
  expect(['30s', '500ms', '2m', '1.5h', ' 1 d ', 250, '250'].map(read)).toEqual([
    30_000, 500, 120_000, 5_400_000, 86_400_000, 250, 250,
  ]);
  expect(['', 's', '-1s', '1x', '1s1s', Number.NaN, -1, true, null].map(read)).toEqual(Array(9).fill(undefined));
});

test('sizes are bytes, in units of 1024', () => {
  const read = (input: unknown) => size().safeParse(input).data;
  expect(['128MB', '1kb', '1GiB', '0.5MB', 7].map(read)).toEqual([134_217_728, 1024, 1_073_741_824, 524_288, 7]);
  expect(['1TB', '1constructor', '1e3'].map(read)).toEqual([undefined, undefined, undefined]);
});

test('bounds are part of what is expected', () => {
  expect(duration({ maxMs: 1_000 }).safeParse('2s').error?.issues[0]?.message).toBe(
    'a duration such as 30s, 500ms or 2m, at most 1000ms',
  );
});

test('numbers and flags may come as text, because variables of the environment are text', () => {
  expect(integer(1, 9).safeParse('7').data).toBe(7);
  expect(
    [integer(1, 9).safeParse('7.5'), integer(1, 9).safeParse(''), integer(1, 9).safeParse('0x7')].map(
      (result) => result.success,
    ),
  ).toEqual([false, false, false]);
  expect([flag().safeParse('true').data, flag().safeParse(false).data, flag().safeParse('yes').success]).toEqual([
    true,
    false,
    false,
  ]);
});
