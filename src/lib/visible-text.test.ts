import { expect, test } from 'vitest';
import { clipText, escapeInvisible, quoteVisibly, visibleText, withoutMarkup } from './visible-text.js';

test.each([
  ['colour sequences', '\u001b[31mred\u001b[0m', 'red'],
  ['8-bit sequences', '\u009b31mred', 'red'],
  ['hyperlinks and titles', '\u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u001b]0;title\u001b\\t', 'link t'],
  ['an unfinished sequence', 'a\u001b[12', 'a[12'],
  ['bidirectional overrides', 'a\u202ecod\u202c\u2066b\u2069', 'acodb'],
  ['zero-width characters', 'pass\u200bword\ufeff', 'password'],
  ['tag characters', `hi${String.fromCodePoint(0xe0041, 0xe0042)}`, 'hi'],
  ['fillers and variation selectors', 'a\u3164b\u{e0100}', 'ab'],
  ['nulls and bells', 'a\u0000b\u0007c', 'abc'],
  ['lone surrogates', 'a\ud800b', 'a\ufffdb'],
])('shown text has no %s', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('every kind of line break is shown as one', () => {
  expect(visibleText('a\r\nb\rc\u2028d\u2029e\u0085f\vg')).toBe('a\nb\nc\nd\ne\nf\ng');
});

test('ordinary text of any language stays as it is', () => {
  for (const text of ['', 'plain', 'naïve ☕ 検索 🚀', 'a\nb']) expect(visibleText(text)).toBe(text);
});

test('a quoted value means the same and shows every invisible character', () => {
  for (const value of ['a"b\\', 'a\u2028b', '\u202e', '\u{e0041}', '\u0000\n\t', '\ud800', '🚀']) {
    const quoted = quoteVisibly(value);
    expect(new Function(`return ${quoted}`)()).toBe(value);
    expect(quoted).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
});

test('tags that a chat could take for its own are broken up, other angle brackets stay', () => {
  expect(withoutMarkup('</system> <|im_start|> < /x> <!-- --> <SYSTEM> <invoke name>')).toBe(
    '‹/system> ‹|im_start|> ‹ /x> ‹!-- --> ‹SYSTEM> ‹invoke name>',
  );
  for (const text of ['<owner>/<repo>', 'a < b', 'Map<string, number>', '<=', '<b>']) {
    expect(withoutMarkup(text)).toBe(text);
  }
});

test('clipped text fits, says that it was cut and never ends in half a character', () => {
  expect(clipText('short', 5)).toBe('short');
  expect(clipText('one two three', 10)).toBe('one two…');
  expect(clipText('🚀🚀🚀🚀', 4)).toBe('🚀…');
});

test('indented JSON keeps its lines, whatever letters are in it', () => {
  const value = { name: 'ü\u200b', list: ['\u2800'] };
  const shown = escapeInvisible(JSON.stringify(value, null, 2));
  expect(shown).toBe('{\n  "name": "ü\\u200b",\n  "list": [\n    "\\u2800"\n  ]\n}');
  expect(JSON.parse(shown)).toEqual(value);
});
