import { expect, test } from 'vitest';
import { enclosingBracket, maskSource } from './mask-source.js';

test.each([
  ['strings', `f("a)b", 'c"d')`, `f("   ", '   ')`],
  ['comments', 'a // (x\n/* { */ b', 'a      \n        b'],
  ['templates with expressions', 'f(`a ${g({ b: `}` })} c`)', 'f(`  ${g({ b: ` ` })}  `)'],
  ['regular expressions', 'x = /[/(]"/.test(y) / 2', 'x = /      .test(y) / 2'],
  ['division', 'a = b / c / (d)', 'a = b / c / (d)'],
])('the insides of %s are blanked and nothing moves', (_, source, masked) => {
  expect(maskSource(source)?.text).toBe(masked);
  expect(masked.length).toBe(source.length);
});

test.each(['f(', 'f)', '"open', '`open ${x', '({)}'])('%j cannot be read by eye', (source) => {
  expect(maskSource(source)).toBeUndefined();
});

test('the bracket around a place is found past others that are closed', () => {
  const source = 'call({ a: [1, 2], b: (c), d })';
  const masked = maskSource(source);
  expect(masked && enclosingBracket(masked, source.indexOf('d })'))).toBe(source.indexOf('{'));
});
