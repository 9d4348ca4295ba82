import { expect, test } from 'vitest';
import {
  clipText,
  quoteVisibly,
  visibleJson,
  visibleLine,
  visibleSentence,
  visibleText,
  withoutMarkup,
} from './visible-text.js';

test.each([
  ['colour sequences', '\u001b[31mred\u001b[0m', '\\u001b[31mred\\u001b[0m'],
  ['8-bit sequences', '\u009b31mred', '\\u009b31mred'],
  ['hyperlinks and titles', '\u001b]8;;http://x\u0007link', '\\u001b]8;;http://x\\u0007link'],
  [
    'carriage returns and other breaks',
    'a\rb\u0085c\u2028d\u2029e\vf\fg',
    'a\\u000db\\u0085c\\u2028d\\u2029e\\u000bf\\u000cg',
  ],
  ['bidirectional overrides', 'a\u202ecod\u202c\u2066b\u2069', 'a\\u202ecod\\u202c\\u2066b\\u2069'],
  ['zero-width characters', 'pass\u200bword\ufeff', 'pass\\u200bword\\ufeff'],
  ['tag characters', `hi${String.fromCodePoint(0xe0041)}`, 'hi\\u{e0041}'],
  [
    'fillers, soft hyphens, variation selectors',
    'a\u3164b\u{e0100}c\u00add\ufe0e',
    'a\\u3164b\\u{e0100}c\\u00add\\ufe0e',
  ],
  ['nulls, bells, DEL', 'a\u0000b\u0007c\u007f', 'a\\u0000b\\u0007c\\u007f'],
  ['blanks that are no spaces', 'a\u2800b', 'a\\u2800b'],
  ['private use and unassigned', '\ue000\u{10fffd}\u0378', '\\ue000\\u{10fffd}\\u0378'],
  ['lone surrogates', 'a\ud800b', 'a\\ud800b'],
  ['joiners and selectors outside an emoji', 'a\u200db\ufe0f\ufe0f', 'a\\u200db\\ufe0f\\ufe0f'],
])('%s are shown as what they are', (_, text, shown) => {
  for (const show of [visibleText, visibleLine, visibleSentence]) expect(show(text)).toBe(shown);
});

test('line breaks and tabs stay in text, become escapes in a line, one blank between sentences', () => {
  const text = 'a\r\nb\n\tc';
  expect(visibleText(text)).toBe('a\nb\n\tc');
  expect(visibleLine(text)).toBe('a\\u000d\\u000ab\\u000a\\u0009c');
  expect(visibleSentence(` ${text}  d\n`)).toBe('a b c d');
});

test('ordinary text of any language and emoji stay as they are', () => {
  for (const text of ['', 'plain', 'naïve ☕ 検索 🚀', 'שלום', '⚠️ 1️⃣ 👩🏽‍💻 🏳️‍🌈 🇩🇪'])
    for (const show of [visibleText, visibleLine, visibleSentence]) expect(show(text)).toBe(text);
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

test('JSON keeps its lines and its value, whatever letters are in it', () => {
  const value = { name: 'ü\u200b', list: ['\u2800', '\u{e0041}'] };
  const shown = visibleJson(value, 2);
  expect(shown).toBe('{\n  "name": "ü\\u200b",\n  "list": [\n    "\\u2800",\n    "\\udb40\\udc41"\n  ]\n}');
  expect(JSON.parse(shown)).toEqual(value);
});
