import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../../../lib/cpu-time.test-support.js';
import { type Guest, startGuest } from '../globals/run-in-quickjs.test-support.js';

let guest: Guest;

beforeAll(async () => {
  guest = await startGuest(`import { parse } from '../text/parse.js'; globalThis.parse = parse;`);
});
afterAll(() => guest.close());

const parsed = (text: string) => guest.call('(text) => parse(text)', text);
const failure = (text: string) =>
  guest.call(
    `(text) => { try { return { value: parse(text) }; } catch (error) { return { name: error.name, message: error.message, line: error.line, column: error.column, hint: error.hint }; } }`,
    text,
  ) as { name: string; message: string; line: number; column: number; hint: string };

describe('parse reads', () => {
  test.each<[string, string, unknown]>([
    ['JSON', ' {"a": [1, "b", null, true]}\n', { a: [1, 'b', null, true] }],
    ['a JSON scalar', '"x"', 'x'],
    ['JSON in a block of code', '```json\n[1, 2]\n```', [1, 2]],
    ['JSON under a heading', 'Found 2 issues:\n\n  [{"a": 1}, {"a": 2}]\n', [{ a: 1 }, { a: 2 }]],
    ['JSON in a block of code under a heading', 'Here it is:\n```json\n{"a": 1}\n```', { a: 1 }],
    ['JSON lines', '{"a":1}\n\n{"a":2}\r\n{"a":3}', [{ a: 1 }, { a: 2 }, { a: 3 }]],
    ['JSON values over several lines each', '{\n "a": 1\n}\n{\n "a": 2\n}', [{ a: 1 }, { a: 2 }]],
    ['JSON with a comma at the end', '[1, {"a": 2,},]', [1, { a: 2 }]],
    [
      'what Python prints for rows',
      `[{'id': 1, 'name': "O'Hara", 'note': 'a \\'b\\' \\n\\x41\\u00e9\\U0001F600', 'ok': True, 'gone': None}]`,
      [{ id: 1, name: "O'Hara", note: "a 'b' \nAé😀", ok: true, gone: null }],
    ],
    ['tuples and sets', `[(1, 'a'), (2,), (), {1, 2}, {'x'}, {}, (3)]`, [[1, 'a'], [2], [], [1, 2], ['x'], {}, 3]],
    ['numbers of Python', '(1, -2.5, +3, 1e3, .5, 10)', [1, -2.5, 3, 1000, 0.5, 10]],
    [
      'dates, decimals and ids of Python',
      `[datetime.datetime(2026, 1, 5, 9, 30), datetime.datetime(2026, 1, 5, 9, 30, 1, 5, tzinfo=datetime.timezone.utc), datetime.datetime(2026, 1, 5, 9, 0, tzinfo=datetime.timezone(datetime.timedelta(seconds=7200))), datetime.date(2026, 1, 5), datetime.time(7, 5), Decimal('12.50'), UUID('ab-1')]`,
      [
        '2026-01-05T09:30:00',
        '2026-01-05T09:30:01.000005+00:00',
        '2026-01-05T09:00:00+02:00',
        '2026-01-05',
        '07:05:00',
        '12.50',
        'ab-1',
      ],
    ],
    [
      'other values of Python',
      `[b'ab\\x00', r'\\d', set(), OrderedDict([('a', 1)]), """a\nb"""]`,
      ['ab\0', '\\d', [], { a: 1 }, 'a\nb'],
    ],
    ['keys that are no texts', `{1: 'a', None: 'b'}`, { 1: 'a', null: 'b' }],
    [
      'lines of tuples',
      `(1, 'a')\n(2, 'b')`,
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    ['a single value of Python', 'None', null],
    ['a single text of Python', `'it''s'`.slice(0, 4), 'it'],
    [
      'CSV',
      'id,name,note\r\n1,"Smith, J","say ""hi""\nthere"\r\n2,Bo,\r\n',
      [
        { id: '1', name: 'Smith, J', note: 'say "hi"\nthere' },
        { id: '2', name: 'Bo', note: '' },
      ],
    ],
    ['CSV with a quoted header', '"id","full name"\n"1","A"', [{ id: '1', 'full name': 'A' }]],
    ['CSV with tabs', 'id\tname\n01\tA, B', [{ id: '01', name: 'A, B' }]],
    ['CSV with semicolons', 'a;b\n1,5;2', [{ a: '1,5', b: '2' }]],
    ['headers that are empty or alike', 'a,,a\n1,2,3', [{ a: '1', column_2: '2', a_2: '3' }]],
    [
      'a Markdown table with words around it',
      'Found 2 rows:\n\n| id | name |\n|---:|:----|\n| 1 | a \\| b |\n| 2 | |\n\nDone, at last.',
      [
        { id: '1', name: 'a | b' },
        { id: '2', name: '' },
      ],
    ],
    ['a Markdown table without bars at its sides', 'a | b\n--|--\n1 | 2', [{ a: '1', b: '2' }]],
  ])('%s', (_, text, value) => {
    expect(parsed(text)).toEqual(value);
  });

  test('what is not text as it is', () => {
    expect(guest.evaluate('parse({ a: 1 })')).toEqual({ a: 1 });
    expect(guest.evaluate('parse(null)')).toBe(null);
  });
});

describe('parse throws with the position', () => {
  test.each<[string, string, number, number, RegExp, RegExp]>([
    ['plain text', 'All is well.', 1, 1, /neither JSON, JSON lines/, /string methods/],
    ['a sentence with commas', 'Hello Bob, how are you today?\nFine, thanks.', 1, 1, /neither JSON/, /string methods/],
    ['words around JSON', 'Found 2:\n[{"a": 1}]\nDone', 1, 1, /neither JSON/, /parse\(text\.slice\(9, 19\)\)/],
    ['nothing', ' \n ', 2, 2, /nothing in it/, /answered/],
    ['JSON that was cut', '[{"a": 1},\n {"a"', 2, 6, /ends inside a value/, /cut its answer/],
    ['a string that was cut', `{'a': 'bc`, 1, 10, /ends inside a value/, /cut its answer/],
    ['a missing comma', '{"a": 1\n "b": 2}', 2, 2, /"," or "}" was expected/, /correct the text/],
    ['a broken line of JSON lines', '{"a":1}\n{"a":}', 2, 6, /a value was expected/, /correct/],
    ['values on one line', '[1] [2]', 1, 5, /follows after the end/, /correct/],
    ['code', '[open("x").read()]', 1, 2, /open is not a value/, /correct/],
    ['a name', '[__import__]', 1, 2, /__import__ is not a value/, /correct/],
    ['a tuple as a key', '{(1, 2): 3}', 1, 2, /a key must be/, /correct/],
    ['a row of CSV with a cell too many', 'a,b\n1,2\n1,2,3', 3, 1, /3 cells, and the header 2/, /correct the row/],
    ['a quote of CSV that stays open', 'a,b\n1,"x', 2, 3, /never closed/, /cut its answer/],
    ['a row of Markdown with a cell too many', '|a|b|\n|-|-|\n|1|2|3|', 3, 1, /3 cells/, /\\\|/],
    ['two Markdown tables', '|a|b|\n|-|-|\n|1|2|\n\n|c|d|\n|-|-|\n|1|2|', 5, 1, /second table/, /each part/],
  ])('%s', (_, text, line, column, message, hint) => {
    expect(failure(text)).toMatchObject({ name: 'CodemodeError', line, column });
    expect(failure(text).message).toMatch(message);
    expect(failure(text).message).toContain(`line ${line}, column ${column}`);
    expect(failure(text).hint).toMatch(hint);
  });

  test('a promise and undefined, with what to write', () => {
    const thrown = (value: string) =>
      guest.evaluate(`(() => { try { parse(${value}) } catch (error) { return error.hint } })()`);
    expect(thrown('Promise.resolve(1)')).toContain('parse(await');
    expect(thrown('undefined')).toContain('Pass what');
  });
});

describe('hostile text', () => {
  test.each([
    // Deeper ones are in text-module.test.ts: here the engine has the stack of a thread.
    ['deep lists', '['.repeat(2_000)],
    ['deep dictionaries', `{'a':`.repeat(200_000)],
    ['deep calls', 'set('.repeat(100_000).replace(/^/, '[')],
    ['an endless word', `[${'a'.repeat(300_000)}`],
    ['an endless number', `[${'1'.repeat(300_000)}`],
    ['an endless string', `['${'\\\\'.repeat(100_000)}`],
    ['spaces', `[1${' '.repeat(300_000)}2]`],
    ['quotes', `a,b\n${'"'.repeat(300_001)}`],
    ['bars', `${'|'.repeat(300_000)}\n${'-|'.repeat(300_000)}x`],
    ['rules of tables', '|-|-|\n'.repeat(20_000)],
    ['fences', '```'.repeat(300_000)],
    ['words', 'a '.repeat(500_000)],
    ['commas', ','.repeat(15_000)],
    ['prefixes', `[${`b'`.repeat(200_000)}`],
  ])('%s end with an error in time', (_, text) => {
    const took = cpuMsOf(() => {
      const { name, message } = failure(text);
      expect(name, message).toBe('CodemodeError');
      expect(message.length).toBeLessThan(400);
    });
    expect(took).toBeLessThan(5_000);
  });

  test('a key or header __proto__ is a property like others', () => {
    const own = `(text) => { const [row] = parse(text); return [Object.keys(row), ({}).polluted ?? null]; }`;
    expect(guest.call(own, `[{'__proto__': {'polluted': 1}}]`)).toEqual([['__proto__'], null]);
    expect(guest.call(own, '__proto__,b\n1,2')).toEqual([['__proto__', 'b'], null]);
    expect(guest.call(own, '|__proto__|b|\n|-|-|\n|1|2|')).toEqual([['__proto__', 'b'], null]);
    expect(guest.call(own, '[{"__proto__": {"polluted": 1}}]')).toEqual([['__proto__'], null]);
  });

  test('a megabyte of rows of each kind is read in time', () => {
    for (const text of [
      `[${"{'id': 1, 'name': 'abc'}, ".repeat(20_000)}]`,
      '{"id": 1, "name": "abc"}\n'.repeat(20_000),
      `id,name\n${'1,abc\n'.repeat(50_000)}`,
      `|id|name|\n|-|-|\n${'|1|abc|\n'.repeat(40_000)}`,
    ]) {
      const read = () => expect(guest.call('(text) => parse(text).length', text)).toBeGreaterThanOrEqual(20_000);
      expect(cpuMsOf(read)).toBeLessThan(5_000);
    }
  });
});
