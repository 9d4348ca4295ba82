import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.js';

test('the order of keys makes no difference, at any depth; the order of a list does', () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
  expect(canonicalJson([2, 1])).not.toBe(canonicalJson([1, 2]));
});

test('a key called __proto__ is a key like others', () => {
  const value = JSON.parse('{"__proto__":{"admin":true},"a":1}') as unknown;
  expect(canonicalJson(value)).toBe('{"__proto__":{"admin":true},"a":1}');
});
