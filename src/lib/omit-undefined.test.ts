import { expect, expectTypeOf, test } from 'vitest';
import { omitUndefined } from './omit-undefined.js';

test('a field without a value is not there, and every other value is', () => {
  const fields = { missing: undefined as string | undefined, none: null, zero: 0, empty: '', no: false };
  expect(Object.entries(omitUndefined(fields))).toEqual([
    ['none', null],
    ['zero', 0],
    ['empty', ''],
    ['no', false],
  ]);
});

test('a field without a value leaves the default that it is spread over', () => {
  const options: { retries?: number } = {};
  expect({ retries: 3, ...omitUndefined({ retries: options.retries }) }).toEqual({ retries: 3 });
});

test('the type says which fields may be missing', () => {
  const title = undefined as string | undefined;
  expectTypeOf(omitUndefined({ id: 1, title })).toMatchTypeOf<{ id: number; title?: string }>();
  // @ts-expect-error: the title may be missing
  const whole: { title: string } = omitUndefined({ title });
  expect(whole).toEqual({});
});
