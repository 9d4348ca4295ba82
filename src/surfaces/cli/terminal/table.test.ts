import { describe, expect, test } from 'vitest';
import { cutToWidth, displayWidth } from './display-width.js';
import { renderTable } from './table.js';

describe('the width of a text', () => {
  test.each([
    ['hello', 5],
    ['世界', 4],
    ['ｆｕｌｌ', 8],
    ['é', 1],
    ['e\u0301', 1],
    ['🎉', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['한국어', 6],
  ])('%s takes %d columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test('a text that is too long ends in an ellipsis, and no character is halved', () => {
    expect(cutToWidth('hello', 5)).toBe('hello');
    expect(cutToWidth('hello!', 5)).toBe('hell…');
    expect(cutToWidth('世界世界', 5)).toBe('世界…');
    expect(cutToWidth('世界世界', 4)).toBe('世…');
    expect(cutToWidth('a👩‍👩‍👧b', 3)).toBe('a…');
    expect(cutToWidth('a👩‍👩‍👧b', 4)).toBe('a👩‍👩‍👧b');
    expect(cutToWidth('abc', 0)).toBe('');
  });
});

describe('a table', () => {
  const columns = [{ title: 'NAME' }, { title: 'N', isNumber: true }, { title: 'ABOUT', cutFirst: 1 }];
  const rows = [
    { cells: ['one', '7', 'short'] },
    { cells: ['世界', '10', 'a sentence that goes on for rather a long time'], below: ['  a note'] },
  ];

  test('has titles and aligned columns on a terminal, and no line is wider than it', () => {
    expect(renderTable(columns, rows, 30)).toBe(
      ['NAME   N  ABOUT', 'one    7  short', '世界  10  a sentence that goe…', '  a note'].join('\n'),
    );
  });

  test('is cut in the other columns too where the terminal is very narrow', () => {
    for (const width of [12, 16, 20, 40, 200])
      for (const line of renderTable(columns, rows, width).split('\n'))
        expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });

  test('is not cut and has no titles where no terminal shows it', () => {
    expect(renderTable(columns, rows, undefined)).toBe(
      ['one    7  short', '世界  10  a sentence that goes on for rather a long time', '  a note'].join('\n'),
    );
  });

  test('shows foreign text on one line, and nothing in it steers the terminal', () => {
    const name = 'x\n\u001b[2Jready  fake\u202e\u009b1m\u001b]8;;http://evil\u0007link';
    const shown = renderTable([{ title: 'NAME' }, { title: 'STATE' }], [{ cells: [name, 'down'] }], undefined);
    expect(shown).toBe('x\\u000a\\u001b[2Jready  fake\\u202e\\u009b1m\\u001b]8;;http://evil\\u0007link  down');
  });
});
