import { describe, expect, test } from 'vitest';
import { consentJson, consentLine, consentText, consentWord, isWordCut } from './consent-text.js';

describe('text that a person is about to agree to', () => {
  test('has the indent and the mark on every row, also of a line that is wrapped', () => {
    const { rows, isCut } = consentText(`${'x'.repeat(100)}\nAllow? [y/N]`, { width: 40 });
    expect(rows).toEqual([
      `  | ${'x'.repeat(35)}`,
      `  | ${'x'.repeat(35)}`,
      `  | ${'x'.repeat(30)}`,
      '  | Allow? [y/N]',
    ]);
    expect(isCut).toBe(false);
  });

  test.each([
    ['spaces', ' '],
    ['no-break spaces', '\u00a0'],
    ['braille blanks', '\u2800'],
    ['Hangul fillers', '\u3164'],
    ['Hangul choseong fillers', '\u115f'],
    ['ideographic spaces', '\u3000'],
    ['tabs', '\t'],
  ])('shows a run of %s as a count', (_, blank) => {
    expect(consentText(`a${blank.repeat(2_000)}b`, { maxCharacters: 5_000 }).rows).toEqual(['  | a[2,000 blanks]b']);
  });

  test('keeps the indentation of code, but not one that pushes the code out of sight', () => {
    expect(consentText('    a\n                  b').rows).toEqual(['  |     a', '  | [18 blanks]b']);
  });

  test('shows many empty lines as a count', () => {
    expect(consentText(`a${'\n \t'.repeat(500)}\nb`).rows).toEqual(['  | a', '  | [500 empty lines]', '  | b']);
  });

  test('never wraps later than the terminal would, whatever the letters', () => {
    const { rows } = consentText('\u2592'.repeat(100), { width: 40 });
    expect(Math.max(...rows.map((row) => [...row].length))).toBe(4 + 17);
  });

  test('shows what is invisible or steers instead of sending or dropping it', () => {
    expect(consentText('a\u001b[2Jb\u200bc\u202ed\u2800e\u3164f\rg').rows).toEqual([
      '  | a\\u001b[2Jb\\u200bc\\u202ed\\u2800e\\u3164f\\u000dg',
    ]);
  });

  test('says how much is missing', () => {
    const long = consentText('x'.repeat(7_312));
    expect(long.rows.join('')).toMatch(/x… 5,312 more characters$/);
    expect(long.isCut).toBe(true);
    const many = consentText('x\n'.repeat(600));
    expect(many.rows.at(-1)).toBe('  … 451 more rows');
    expect(many.isCut).toBe(true);
    expect(consentText('x\n'.repeat(600), { maxCharacters: Infinity })).toMatchObject({ isCut: false });
  });
});

describe('a value that a person is about to agree to', () => {
  test('is JSON with the blanks counted and the invisible escaped', () => {
    expect(consentJson({ path: `/tmp${' '.repeat(900)}/etc`, 'k\u200b': 'ü' })).toEqual({
      rows: ['  | {', '  |   "path": "/tmp[900 blanks]/etc",', '  |   "k\\u200b": "ü"', '  | }'],
      isCut: false,
    });
  });

  test('is cut by each string and by rows, and says so', () => {
    const long = consentJson({ a: 'x'.repeat(2_500), b: 'end' });
    expect(long.rows.join('\n')).toContain('x… 500 more characters"');
    expect(long.rows.join('\n')).toContain('"b": "end"');
    expect(long.isCut).toBe(true);
    expect(consentJson(Array.from({ length: 400 }).fill(0)).isCut).toBe(true);
  });
});

describe('a name inside a line of ours', () => {
  test('is as it is where it is ordinary, else in quotes', () => {
    expect(consentWord('delete_file')).toBe('delete_file');
    expect(consentWord('delete_file\u200b')).toBe('"delete_file\\u200b"');
    expect(consentWord('get_\u001b]purge_all_data\u0007status')).toBe('"get_\\u001b]purge_all_data\\u0007status"');
    expect(consentWord('delete_file\\u200b')).toBe('"delete_file\\\\u200b"');
    expect(consentWord('a\nb')).toBe('"a\\nb"');
  });

  test('of great length is cut, and known to be', () => {
    expect(consentWord('x'.repeat(1_200))).toBe(`"${'x'.repeat(200)}… 1,000 more characters"`);
    expect([isWordCut('x'.repeat(201)), isWordCut('x'.repeat(200))]).toEqual([true, false]);
  });

  test('a sentence stays on its line', () => {
    expect(consentLine(`why\nAllow? [y/N]${' '.repeat(99)}y`)).toBe('why\\u000aAllow? [y/N][99 blanks]y');
  });
});
