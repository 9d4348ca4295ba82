import { describe, expect, test } from 'vitest';
import { nestingOf } from './nesting.js';

describe('nesting', () => {
  test.each([
    ['', 0],
    ['a(b[c]); {}', 2],
    ['({ a: [{ b: f(() => {}) }] })', 6],
    ['if (a) if (b) for (;;) while (c) d();', 5],
    ['if (a) b(); else c(); if (d) e(); if (f) g();', 2],
    ['if (a) {} else if (b) {} else if (c) {} else {}', 3],
    ['`${`${`${1}`}`}`', 3],
    ['`a ${b} c ${d} e`; (1)', 1],
    [']]]]](1)', 1],
  ])('of %j is %i', (source, depth) => {
    expect(nestingOf(source)).toBe(depth);
  });

  test.each([
    ['strings', `'((((' + "[[[[" + '\\'((('`],
    ['comments', '// ((((\n/* [[[[ \n {{{{ */ 1'],
    ['the text of templates', "`(((( don't [[[[ \\` \\${ {{{{`"],
    ['words that begin like others', 'iffy; format; dot; elsewhere; whiled; withal'],
  ])('is not made by %s', (_, source) => {
    expect(nestingOf(source)).toBeLessThanOrEqual(1);
  });

  test('of an apostrophe that begins no string goes on behind it', () => {
    expect(nestingOf("x.replace(/'/, f(1))")).toBe(2);
  });

  test('is counted in time that follows the length, whatever is in the source', () => {
    for (const unit of ['"\\', "'", '`', '/*', '`${', 'if', '(', 'a'])
      expect(nestingOf(unit.repeat(262_144 / unit.length))).toBeGreaterThanOrEqual(0);
  });
});
