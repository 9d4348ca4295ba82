import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import { type ObservedBounds, ObservedTypes } from './observed-types.js';

const ME = 'me' as CallerId;
const typeAfter = (...values: JsonValue[]) => {
  const types = new ObservedTypes();
  for (const value of values) types.observe(ME, 'server', 'tool', value);
  return types.typeOf(ME, 'server', 'tool');
};

describe('the type of what was seen', () => {
  test.each<[what: string, values: JsonValue[], type: string]>([
    ['a text', ['hello'], 'string'],
    ['whole and broken numbers', [1, 1.5], 'number'],
    ['several kinds', ['a', 1, null, true], 'string | number | boolean | null'],
    ['an object', [{ id: 1, name: 'x', tags: ['a'] }], '{ id: number; name: string; tags: string[] }'],
    ['a property that is missing at times', [{ a: 1, b: 2 }, { a: 1 }], '{ a: number; b?: number }'],
    ['a property that is null at times', [{ a: 1 }, { a: null }], '{ a: number | null }'],
    ['both', [{ a: null }, {}], '{ a?: null }'],
    ['an empty array', [[]], 'unknown[]'],
    ['an array that was empty once', [[], [1]], 'number[]'],
    ['items of several kinds', [[1, 'a', null]], '(string | number | null)[]'],
    ['items that differ', [[{ a: 1 }, { a: 1, b: 'x' }]], '{ a: number; b?: string }[]'],
    ['an empty object', [{}], 'Record<string, never>'],
    ['fixed texts, which are data too', [{ state: 'open' }, { state: 'closed' }], '{ state: string }'],
    ['names that need quotes', [{ 'content-type': 1, '@id': 'x' }], '{ "content-type": number; "@id": string }'],
    ['JSON in a text', ['[{"a":1}]'], '/** JSON text of: { a: number }[] */ string'],
    ['JSON under a heading', ['Found 1:\n\n[{"a":1}]'], '/** JSON under a heading of: { a: number }[] */ string'],
    ['a text that only begins like JSON', ['{not json'], 'string'],
    [
      'text of several kinds',
      ['[{"a":1}]', 'nothing found'],
      '/** JSON text of: { a: number }[], or plain text */ string',
    ],
    ['prose with commas', ['One, two, and three.\nFour, five, and six.'], 'string'],
    ['pairs in a table', ['| Name | Ann |\n|---|---|\n| City | Oslo |'], '/** Markdown table */ string'],
    ['a rule that is long and none', [`a|b\n${'|-'.repeat(10_000)}x`], 'string'],
    [
      'names of what every object inherits',
      [JSON.parse('{"__proto__":{"a":1},"constructor":1}')],
      '{ __proto__: { a: number }; constructor: number }',
    ],
  ])('%s', (_, values, type) => {
    expect(typeAfter(...values)).toBe(type);
  });

  test('a long type has one property a line', () => {
    const value = { identifier: 1, description: 'x', owner: { login: 'a', email: 'b', isAdmin: true }, createdAt: 'x' };
    expect(typeAfter(value)).toBe(
      '{\n  identifier: number;\n  description: string;\n  owner: { login: string; email: string; isAdmin: boolean };\n  createdAt: string;\n}',
    );
  });
});

describe('keys that are data', () => {
  test.each([
    '42',
    '2025-01-31',
    '2025-01-31T12:00:00Z',
    'ann@example.com',
    '0b7d9a8e-3f0c-4f63-9a31-3d5b0d7cbb11',
    'deadbeef01',
    'user_12345',
    'Ann Smith',
    'Grüße',
    'src/index.ts',
    'example.com',
    'https://example.com',
    'sk-live-8sHd72kQpX',
    'ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJIUzI1NiJ9',
    'xkcdqwrtz',
    'XqZrTbWkLm',
    '',
  ])('%j is not kept as a name', (key) => {
    expect(typeAfter({ [key]: { size: 1 } })).toBe('Record<string, { size: number }>');
    expect(typeAfter({ id: 1, [key]: 'x' })).toBe('{ id: number; [key: string]: unknown }');
  });

  test.each([
    ...[
      'id',
      '_id',
      'userId',
      'created_at',
      'content-type',
      'HTMLUrl',
      'sha256',
      'line1',
      'p95LatencyMs',
      'base64Data',
    ],
    ...[
      '@type',
      '$ref',
      '#text',
      'isVerified',
      'MAX_RETRIES',
      'html_url',
      'x',
      'utf8',
      'nextPageToken',
      'stargazersCount',
    ],
  ])('%j is kept', (key) => {
    expect(typeAfter({ [key]: 1 })).toContain(key);
  });

  test('many entries of one structure are a map, whatever their keys', () => {
    const names = ['ann', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'];
    const map = Object.fromEntries(names.map((name, index) => [name, { age: index, ...(index > 5 && { mail: 'x' }) }]));
    expect(typeAfter(map)).toBe('Record<string, { age: number; mail?: string }>');
  });

  test('more keys than any record has are a map', () => {
    const letters = 'abcdefghij';
    const map = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [
        `key_${letters[index % 10]}${letters[Math.floor(index / 10)]}`,
        index % 2 ? 1 : 'a',
      ]),
    );
    expect(typeAfter(map)).toBe('Record<string, string | number>');
  });

  test('keys that change from call to call are a map, and their names are forgotten', () => {
    const calls = ['ann', 'bob', 'carol', 'dave', 'erin'].map((name) => ({ [name]: { age: 1 } }));
    expect(typeAfter(...calls)).toBe('Record<string, { age: number }>');
    expect(typeAfter(...calls, { frank: { age: 2 } })).toBe('Record<string, { age: number }>');
  });

  test('twenty fields of one simple type are still fields', () => {
    const fields = Object.fromEntries([...'abcdefghijklmnopqrst'].map((letter) => [`field_${letter}`, 'x']));
    expect(typeAfter(fields)).toContain('field_t: string');
  });
});

describe('bounds', () => {
  test('what is nested deeply is left open', () => {
    let value: JsonValue = 1;
    for (let level = 0; level < 10_000; level += 1) value = { next: value };
    expect(typeAfter(value)).toMatch(/^(?:\{ next: |\{\s+next: )+unknown/);
    expect(typeAfter(JSON.stringify([[[[[[[[[[1]]]]]]]]]]))).toBe('/** JSON text of: unknown[][][][][][][] */ string');
  });

  test('a result of a million values is sampled', () => {
    const rows = Array.from({ length: 200_000 }, (_, id) => ({ id, late: id > 150_000 ? 'x' : null }));
    expect(typeAfter(rows)).toBe('{ id: number; late: string | null }[]');
  });

  test('a type has a bounded text, however much was seen', () => {
    const wide = (depth: number): JsonValue =>
      depth === 0
        ? 1
        : Object.fromEntries(
            [...'abcdefgh'].map((letter) => [`${letter}_field_of_some_length`, letter < 'c' ? wide(depth - 1) : 'x']),
          );
    expect(typeAfter(wide(6))?.length).toBeLessThan(2_501);
  });

  const filled = (bounds: Partial<ObservedBounds>, count: number) => {
    const types = new ObservedTypes(bounds);
    for (let index = 0; index < count; index += 1) {
      types.observe(ME, 's', `tool${index}`, { a: 1 });
      types.typeOf(ME, 's', 'tool0');
    }
    return Array.from({ length: count }, (_, index) => index).filter((index) => types.typeOf(ME, 's', `tool${index}`));
  };

  test('of too many tools the least recently used is forgotten', () => {
    expect(filled({ toolsPerCaller: 3 }, 10)).toEqual([0, 8, 9]);
  });

  test('so it is when all shapes together weigh too much', () => {
    expect(filled({ totalBytes: 150 }, 10)).toEqual([0, 8, 9]);
  });

  test('one caller neither evicts nor sees the types of another', () => {
    const types = new ObservedTypes({ toolsPerCaller: 2 });
    types.observe(ME, 's', 't', 1);
    for (let index = 0; index < 5; index += 1) types.observe('you' as CallerId, 's', `t${index}`, 1);
    expect(types.typeOf(ME, 's', 't')).toBe('number');
    expect(types.typeOf(ME, 's', 't4')).toBeUndefined();
  });
});

describe('stored observations', () => {
  const VALUES: JsonValue[] = [
    { a: [1, null, { b: true }], 'x y': { c: [] } },
    '{"rows":[{"id":1},{"id":2,"note":null}]}',
    [],
    { a: 'text', z: {} },
  ];

  test('come back as they were, the least recently used first', () => {
    const types = new ObservedTypes();
    for (const [index, value] of VALUES.entries()) {
      types.observe(ME, 's', `t${index}`, value);
      types.observe(ME, 's', 'all', value);
    }
    const copy = ObservedTypes.fromJson(JSON.parse(JSON.stringify(types.toJson())));
    expect(copy.toJson()).toEqual(types.toJson());
    for (const tool of ['t0', 't1', 't2', 't3', 'all']) {
      expect(copy.typeOf(ME, 's', tool)).toBe(types.typeOf(ME, 's', tool));
    }
  });

  test('of a stranger give no names that are data, no code and no endless depth', () => {
    let deep: JsonValue = { k: 's' };
    for (let level = 0; level < 10_000; level += 1) deep = { i: deep };
    const types = ObservedTypes.fromJson({
      version: 2,
      tools: [
        [
          'me',
          's',
          'code',
          '',
          {
            p: [
              ['*/ }; evil(); /*', 0, {}],
              ['ok', 0, { k: 'n' }],
            ],
          },
        ],
        ['me', 's', 'deep', '', deep],
        ['me', 's', 'comment', '', { p: [['a', 0, { j: { j: { k: 's' } } }]] }],
        ['me', 's', 'broken', '', 5],
        ['me', 's'],
        null,
      ],
    });
    expect(types.typeOf(ME, 's', 'code')).toBe('{ ok: number }');
    expect(types.typeOf(ME, 's', 'deep')).toMatch(/^unknown(?:\[\])+$/);
    expect(types.typeOf(ME, 's', 'comment')).toBe('{ a: unknown }');
    expect(types.typeOf(ME, 's', 'broken')).toBe('unknown');
    for (const foreign of [undefined, null, 5, [], {}, { version: 3, tools: [] }, { version: 1, tools: 'x' }]) {
      expect(ObservedTypes.fromJson(foreign).toJson()).toEqual({ version: 2, tools: [] });
    }
  });
});

test('a result with the structure of the last one is skipped, and any other one is examined', () => {
  const types = new ObservedTypes();
  const observe = (value: JsonValue) => types.observe(ME, 's', 't', value);
  expect([observe({ a: 1, rows: [{ b: 'x' }] }), observe({ a: 2, rows: [{ b: 'y' }, { b: 'z' }] })]).toEqual([
    true,
    false,
  ]);
  // The second time without a look at it.
  expect([observe({ a: 2, rows: [{ b: 'y' }, { b: 'z' }] }), observe({ a: 3, rows: [{ b: 'w' }] })]).toEqual([
    false,
    false,
  ]);
  expect(observe({ a: null, rows: [] })).toBe(true);
  expect(observe({ a: 2, rows: [{ b: 'y' }, {}] })).toBe(true);
  expect(types.typeOf(ME, 's', 't')).toBe('{ a: number | null; rows: { b?: string }[] }');
});
