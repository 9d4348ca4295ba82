import { expect, test } from 'vitest';
import { comparesVariables } from './comparisons.js';

test.each([
  'const a = 1, b = 2, c = 3, d = 4; f(a < b, c > (d));',
  'const a = 1, b = 2, c = 3, d = 4; console.log([a<b, c>(d + 1)]);',
  'function g(a, { b, x: [c] }, d) { return f(a < b.size, 1, c[0] > (d)); }',
  'for (const item of list) f(item.low < item.high, item.high > (limit));',
  'const a = 1, b = 2, c = 3; f(a < b > (c));',
])('%s compares variables', (source) => {
  expect(comparesVariables(source)).toBe(true);
});

test.each([
  'const x = 1; pair<number, string>(x);',
  'class A {} class B {} const x = 1; pair<A, B>(x);',
  'const xs = []; new Map<Date, Error>(xs);',
  'const a = 1, b = 2; new Map<a, b>(a);',
  'const x = 1; identity<number>(x); identity<Date>(x); new Set<x>(x);',
  'const x = 1; pair<1, 2>(x);',
  'const a = 1; f(a);',
])('%s does not', (source) => {
  expect(comparesVariables(source)).toBe(false);
});
