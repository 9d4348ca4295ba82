import { beforeEach, describe, expect, test, vi } from 'vitest';
import { plain, plainBlock, plainLine, printableJson, styled } from './terminal.js';

/** One of each kind that moves the cursor, turns the direction of text, or hides. */
const STEERING = '\u0000\u0007\b\r\u001b\u007f\u0085\u009b\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff';

describe('foreign text on a terminal', () => {
  test('keeps letters, spaces, tabs, line ends and emoji', () => {
    const text = 'Grüße,\t世界\n🎉 שלום';
    expect(plain(text)).toBe(text);
  });

  test('shows what would steer the terminal instead of sending it', () => {
    expect(plain('\u001b[2Jgone')).toBe('\\u001b[2Jgone');
    expect(plain('safe\u202efdp.exe')).toBe('safe\\u202efdp.exe');
    expect(plain('a\rb')).toBe('a\\u000db');
    expect([...plain(STEERING)].every((character) => character >= ' ' && character <= '~')).toBe(true);
  });

  test.each(['\u200b', '\u200d', '\u2800', '\u3164', '\u115f', '\u00ad', '\ufe0f', '\u{e0041}', '\u{1d159}'])(
    'differs from the same text without an invisible character (case %#)',
    (hidden) => {
      expect(plain(`delete_file${hidden}`)).toMatch(/^delete_file\\u[\da-f{}]+$/);
      expect(JSON.parse(printableJson({ name: `delete_file${hidden}` }))).toEqual({ name: `delete_file${hidden}` });
      expect(printableJson(`delete_file${hidden}`)).toMatch(/^[\x20-\x7e]+$/);
    },
  );

  test('keeps emoji that are made of several characters', () => {
    for (const emoji of ['❤️', '👩‍💻', '🏳️‍🌈']) expect(plain(emoji)).toBe(emoji);
  });

  test('cannot write a line of its own inside one of ours', () => {
    expect(plainLine('echo\napproved: yes\t\u001b[1m')).toBe('echo\\u000aapproved: yes\\u0009\\u001b[1m');
  });

  test('of several lines is indented on each of them', () => {
    expect(plainBlock('a\r\ndecided: by root\n\u001b[1A')).toBe('  a\n  decided: by root\n  \\u001b[1A');
  });
});

describe('JSON on a terminal', () => {
  const value = { text: `${STEERING}"\\\n\t🎉\ud800`, [`key${STEERING}`]: [null, 1.5, true] };

  test.each([false, true])('is the same value to a parser (indented: %s)', (isPretty) => {
    expect(JSON.parse(printableJson(value, isPretty))).toEqual(value);
  });

  test('holds nothing that steers, and one line unless it is to be indented', () => {
    for (const character of STEERING) expect(printableJson(value)).not.toContain(character);
    expect(printableJson(value)).not.toContain('\n');
    expect(printableJson({ a: 1 }, true)).toBe('{\n  "a": 1\n}');
  });
});

describe('colours', () => {
  const stream = (isTTY: boolean, colours: boolean) =>
    ({ isTTY, hasColors: () => colours }) as unknown as NodeJS.WriteStream;

  beforeEach(() => {
    vi.stubEnv('FORCE_COLOR', '');
    vi.stubEnv('NO_COLOR', '');
    return () => vi.unstubAllEnvs();
  });

  test('are for terminals that have them', () => {
    expect(styled('red', 'x', stream(true, true))).toBe('\u001b[31mx\u001b[0m');
    expect(styled('red', 'x', stream(true, false))).toBe('x');
    expect(styled('red', 'x', stream(false, true))).toBe('x');
  });

  test.each(['1', '2', '3', 'true'])('are used without a terminal where FORCE_COLOR is %s', (value) => {
    vi.stubEnv('FORCE_COLOR', value);
    vi.stubEnv('NO_COLOR', '1');
    expect(styled('red', 'x', stream(false, false))).toBe('\u001b[31mx\u001b[0m');
  });

  test.each([
    ['FORCE_COLOR', '0'],
    ['FORCE_COLOR', 'false'],
    ['NO_COLOR', '1'],
  ])('are not used on a terminal where %s is %s', (name, value) => {
    vi.stubEnv(name, value);
    expect(styled('red', 'x', stream(true, true))).toBe('x');
  });
});
