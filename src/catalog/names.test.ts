import { describe, expect, test } from 'vitest';
import { compareCodePoints, exportNames, memberNames, modulePaths, withoutDuplicates } from './names.js';

const exported = (...names: string[]) => Object.fromEntries(exportNames(names));

describe('export names (A24)', () => {
  test('a legal name stays as it is, whatever its case', () => {
    expect(exported('list_issues', 'listIssues', '$x', '_x')).toEqual({
      list_issues: 'list_issues',
      listIssues: 'listIssues',
      $x: '$x',
      _x: '_x',
    });
  });

  test('each illegal character becomes one underscore', () => {
    expect(exported('list-issues', 'files.read all', 'a/b\nc', '"; drop')).toEqual({
      'list-issues': 'list_issues',
      'files.read all': 'files_read_all',
      'a/b\nc': 'a_b_c',
      '"; drop': '___drop',
    });
  });

  test('each reserved word of the contract gets an underscore behind', () => {
    const words =
      `break case class const continue debugger default delete do else export extends false finally for function
      if import in instanceof new null return super switch this throw true try typeof var void while with yield let static
      await`.split(/\s+/);
    expect(words).toHaveLength(38);
    expect(exported(...words)).toEqual(Object.fromEntries(words.map((word) => [word, `${word}_`])));
  });

  test('a leading digit gets an underscore in front', () => {
    expect(exported('123tool', '-1')).toEqual({ '123tool': '_123tool', '-1': '_1' });
  });

  test('letters of other scripts are legal, and a combining mark cannot stand first', () => {
    expect(exported('café', '検索', '\u0301x')).toEqual({ café: 'café', 検索: '検索', '\u0301x': '_\u0301x' });
  });

  test('composed and decomposed forms of one name collide instead of looking equal', () => {
    expect(new Set(Object.values(exported('caf\u00e9', 'cafe\u0301')))).toEqual(new Set(['caf\u00e9', 'caf\u00e9__2']));
  });

  test('empty names, emoji and invisible characters still give identifiers', () => {
    expect(exported('', '🚀', 'a\u200bb', 'a\u202eb')).toEqual({
      '': '_',
      '🚀': '___2',
      'a\u200bb': 'a_b',
      'a\u202eb': 'a_b__2',
    });
  });

  test('a name of 128 characters is kept whole', () => {
    const name = 'x'.repeat(128);
    expect(exportNames([name]).get(name)).toBe(name);
  });

  test.each(['default', 'await', 'static', 'enum', 'eval', 'arguments', 'package', 'undefined', 'then', '__meta__'])(
    'the name %s gets an underscore behind',
    (name) => {
      expect(exportNames([name]).get(name)).toBe(`${name}_`);
    },
  );

  test.each(['Promise', 'console', 'constructor', '__proto__', 'toString', 'async', 'of', 'type', 'any'])(
    'the name %s is legal and stays',
    (name) => {
      expect(exportNames([name]).get(name)).toBe(name);
    },
  );

  test('on collision the alphabetically first keeps the clean name, whatever the order of the list', () => {
    const expected = { 'a b': 'a_b', 'a-b': 'a_b__2', 'a.b': 'a_b__3' };
    expect(exported('a.b', 'a b', 'a-b')).toEqual(expected);
    expect(exported('a-b', 'a.b', 'a b')).toEqual(expected);
  });

  test('suffixes start at 2 in alphabetical order; a later tool of that name gets its own', () => {
    expect(exported('a-b', 'a.b', 'a_b__2')).toEqual({ 'a-b': 'a_b', 'a.b': 'a_b__2', a_b__2: 'a_b__2__2' });
  });

  test('an escaped reserved word collides like any other name', () => {
    expect(exported('do', 'do_', 'do-')).toEqual({ do: 'do_', 'do-': 'do___2', do_: 'do___3' });
  });

  test('a repeated name counts once', () => {
    expect(exported('a', 'a')).toEqual({ a: 'a' });
  });

  test('ten thousand colliding names are numbered without a quadratic search', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => String.fromCodePoint(0x1f300 + index));
    expect(new Set(exportNames(names).values()).size).toBe(10_000);
  });
});

describe('module paths (A20)', () => {
  const paths = (...ids: string[]) => Object.fromEntries(modulePaths(ids));

  test('a server id becomes lower-case letters, digits and single dashes', () => {
    expect(paths('Google Drive', '__My--Server__', 'a.b/c', 'x')).toEqual({
      'Google Drive': 'google-drive',
      '__My--Server__': 'my-server',
      'a.b/c': 'a-b-c',
      x: 'x',
    });
  });

  test('the first in the configuration keeps the clean path, and the others are numbered from 2', () => {
    expect(paths('drive-2', 'drive', 'Drive', 'DRIVE', 'drive--2')).toEqual({
      'drive-2': 'drive-2',
      drive: 'drive',
      Drive: 'drive--2',
      DRIVE: 'drive--3',
      'drive--2': 'drive-2--2',
    });
    expect(paths('zoo', 'Zoo').zoo).toBe('zoo');
    expect(paths('Zoo', 'zoo').Zoo).toBe('zoo');
  });

  test('an id without any usable character becomes server', () => {
    expect(paths('', '🚀', '../..')).toEqual({ '': 'server', '🚀': 'server--2', '../..': 'server--3' });
  });
});

test('in profile unified a name that needs no change wins over one that came out the same', () => {
  expect(Object.fromEntries(memberNames(['search-inboxes', 'searchInboxes']))).toEqual({
    'search-inboxes': 'searchInboxes__2',
    searchInboxes: 'searchInboxes',
  });
});

test('of two tools with one name the first wins and the name is reported', () => {
  const tools = [
    { name: 'a', n: 1 },
    { name: 'b', n: 2 },
    { name: 'a', n: 3 },
  ];
  expect(withoutDuplicates(tools)).toEqual({ tools: [tools[0], tools[1]], duplicates: ['a'] });
});

test('names are ordered by code point, not by UTF-16 unit', () => {
  expect(['🚀', '\uff21', 'a', ''].sort(compareCodePoints)).toEqual(['', 'a', '\uff21', '🚀']);
});
