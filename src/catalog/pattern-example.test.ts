import { expect, test } from 'vitest';
import { examplePatternMatch } from './pattern-example.js';

test.each([
  '^[A-Za-z]{2}$',
  '^I?\\d+[:|-]\\d+(?:;\\d+[:|-]\\d+)*$',
  '^[a-zA-Z0-9_.-]+\\.(png|svg|gif)$',
  '^[Hh][Tt][Tt][Pp][Ss]?://',
  '^(pid|process)!?=.+$',
  '^-?P([0-9]+D)?(T([0-9]+H)?)?$',
  '^#[0-9A-Fa-f]{6}$',
  '^[^,]+(,[^,]+)*$',
  '^[^a-z0]$',
  '^\\\\d{3}(,\\\\d{3})*$',
  '^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$',
  '^(?<year>\\d{4})-\\u0041\\x42$',
  '^[a-z][a-z0-9-]*[a-z0-9]+$',
  '^(?!.*https).*$',
  '\\S',
  '',
])('the example for %s matches it', (pattern) => {
  expect(examplePatternMatch(pattern)).toMatch(new RegExp(pattern));
});

test('an example is made as long as it has to be', () => {
  expect(examplePatternMatch('^[a-z]+$', 5)).toBe('aaaaa');
  expect(examplePatternMatch('^[a-z]{0,20}-[0-9]{2}$', 8)).toBe('aaaaa-00');
});

test.each([
  '(a',
  'a)',
  '[a',
  '\\1(a)',
  '*a',
  'a{3000}{3000}',
  '\\p{L}',
  '(?i)a',
  '('.repeat(400),
  'a'.repeat(501),
  '\\',
])('the pattern %s gets no example, and no error', (pattern) => {
  expect(examplePatternMatch(pattern)).toBeUndefined();
});

test('a pattern that would backtrack forever is never run', () => {
  expect(examplePatternMatch('^(a+)+(b|c)$', 30)).toMatch(/^a+b$/);
});
