import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { compileSchema } from './compile.js';
import { findProblems } from './evaluate.js';
import { pointerOf } from './problem.js';

const fits = (schema: JsonObject, value: JsonValue) => findProblems(compileSchema(schema).root, value).length === 0;
const places = (schema: JsonObject, value: JsonValue) =>
  findProblems(compileSchema(schema).root, value).map(({ place }) => pointerOf(place));

const KEYWORDS: readonly (readonly [schema: JsonObject, valid: readonly JsonValue[], invalid: readonly JsonValue[]])[] =
  [
    [{ type: 'integer' }, [1, -3, 1.0, 1e20], [1.5, '1', null, true, [], {}]],
    [{ type: 'number' }, [1, 1.5], ['1', null]],
    [{ type: ['string', 'null'] }, ['a', null], [1, {}]],
    [{ type: 'object' }, [{}], [[], null, 'a']],
    [{ enum: ['a', 1, null, { b: [1], c: 2 }] }, ['a', 1, null, { c: 2, b: [1] }], ['1', { b: [2], c: 2 }]],
    [{ const: { a: 1 } }, [{ a: 1 }], [{ a: 2 }, 1]],
    [{ const: null }, [null], [0, '']],
    [{ required: ['a'] }, [{ a: 1 }, 'no object'], [{}, { b: 1 }]],
    [{ properties: { a: { type: 'string' }, b: false } }, [{ a: '' }, { c: 1 }], [{ a: 1 }, { b: 1 }]],
    [{ properties: { a: {} }, additionalProperties: false }, [{ a: 1 }, {}], [{ b: 1 }]],
    [{ additionalProperties: { type: 'number' } }, [{ a: 1 }], [{ a: 'x' }]],
    [
      { patternProperties: { '^n_': { type: 'number' } }, additionalProperties: false },
      [{ n_a: 1 }],
      [{ n_a: '' }, { a: 1 }],
    ],
    [{ propertyNames: { pattern: '^[a-z]+$' } }, [{ abc: 1 }], [{ A: 1 }]],
    [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
    [{ dependentRequired: { a: ['b'] } }, [{ a: 1, b: 1 }, { b: 1 }], [{ a: 1 }]],
    [{ dependentSchemas: { a: { required: ['b'] } } }, [{ a: 1, b: 1 }], [{ a: 1 }]],
    [
      { dependencies: { a: ['b'], c: { required: ['d'] } } },
      [
        { a: 1, b: 1 },
        { c: 1, d: 1 },
      ],
      [{ a: 1 }, { c: 1 }],
    ],
    [{ unevaluatedProperties: false, allOf: [{ properties: { a: {} } }] }, [{ a: 1 }], [{ b: 1 }]],
    [
      { unevaluatedProperties: false, anyOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, true] },
      [{ a: 1 }],
      [{ a: 2 }],
    ],
    [{ items: { type: 'number' } }, [[1, 2], []], [[1, 'a']]],
    [{ prefixItems: [{ type: 'string' }], items: false }, [['a'], []], [['a', 1], [1]]],
    [{ items: [{ type: 'string' }], additionalItems: { type: 'number' } }, [['a', 1]], [['a', 'b'], [1]]],
    [{ contains: { const: 1 } }, [[0, 1]], [[], [0]]],
    [{ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [[], [1]], [[1, 1]]],
    [{ prefixItems: [{}], unevaluatedItems: false }, [[1]], [[1, 2]]],
    [{ contains: { type: 'string' }, unevaluatedItems: { type: 'number' } }, [['a', 1]], [['a', null]]],
    [{ minItems: 1, maxItems: 2 }, [[1]], [[], [1, 2, 3]]],
    [
      { uniqueItems: true },
      [
        [1, '1', true],
        [{ a: 1 }, { a: 2 }],
      ],
      [
        [1, 1],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    [{ minimum: 1, maximum: 3 }, [1, 3, 'not a number'], [0.9, 3.1]],
    [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
    [{ multipleOf: 0.01 }, [19.99, 0.3, 0, 1e300], [0.005]],
    [{ minLength: 2, maxLength: 3 }, ['ab', '🚀🚀🚀'], ['a', '🚀', 'abcd']],
    [{ pattern: '^[A-Z]{2}-\\d+$' }, ['AB-1', 1], ['ab-1', 'AB-1\n']],
    [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5, null], [4]],
    [{ oneOf: [{ minimum: 1 }, { maximum: 3 }] }, [0, 4], [2]],
    [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, [2], [0, 4]],
    [{ not: { type: 'string' } }, [1], ['a']],
    [
      { if: { required: ['a'] }, then: { required: ['b'] }, else: { required: ['c'] } },
      [{ a: 1, b: 1 }, { c: 1 }],
      [{ a: 1 }, {}],
    ],
    [{ $defs: { n: { type: 'number' } }, properties: { a: { $ref: '#/$defs/n' } } }, [{ a: 1 }], [{ a: '' }]],
    [{ $ref: '#/$defs/n', maximum: 5, $defs: { n: { type: 'number' } } }, [5], ['a', 6]],
    [{ $defs: { n: { $anchor: 'here', type: 'number' } }, items: { $ref: '#here' } }, [[1]], [['']]],
  ];

describe('keywords of JSON Schema', () => {
  test.each(KEYWORDS)('%j', (schema, valid, invalid) => {
    for (const value of valid) expect([value, fits(schema, value)]).toEqual([value, true]);
    for (const value of invalid) expect([value, fits(schema, value)]).toEqual([value, false]);
  });
});

const MISTAKES: readonly (readonly [
  what: string,
  schema: JsonObject,
  valid: readonly JsonValue[],
  invalid: readonly JsonValue[],
])[] = [
  ['a dialect that nobody knows', { $schema: 'urn:x', $id: 'not a uri %%', type: 'number' }, [1], ['a']],
  ['draft-04 booleans', { minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false }, [2, 3], [1, 4]],
  ['nullable without a type', { nullable: true, enum: ['a'] }, ['a', null], ['b']],
  [
    'nullable beside a reference',
    { nullable: true, $ref: '#/$defs/n', $defs: { n: { type: 'number' } } },
    [1, null],
    ['a'],
  ],
  ['items as an array', { type: 'array', items: [{ type: 'string' }] }, [['a', 1]], [[1]]],
  ['the type any', { type: 'any' }, [1, null, {}], []],
  ['an unknown type among others', { type: ['string', 'money'] }, [1, 'a'], []],
  ['types in capitals', { type: 'STRING' }, ['a'], [1]],
  ['a reference to another document', { $ref: 'https://example.com/schema.json', minimum: 1 }, [1, 'x'], [0]],
  ['a reference to nowhere', { properties: { a: { $ref: '#/definitions/b' } } }, [{ a: 1 }], []],
  ['a renamed container of definitions', { $ref: '#/definitions/n', $defs: { n: { type: 'number' } } }, [1], ['a']],
  ['no allowed values at all', { enum: [] }, ['a', null], []],
  ['required as a boolean', { properties: { a: { required: true } }, required: true }, [{}, { a: 1 }], []],
  [
    'keywords of the wrong type',
    { properties: [], items: 'x', minimum: '1', pattern: 7, anyOf: {}, not: 'a' },
    [1, {}, []],
    [],
  ],
  ['formats, which servers do not follow', { format: 'date-time' }, ['2025-01-31T12:00:00', 'tomorrow'], []],
];

describe('mistakes of generators', () => {
  test.each(MISTAKES)('%s', (_, schema, valid, invalid) => {
    for (const value of valid) expect([value, fits(schema, value)]).toEqual([value, true]);
    for (const value of invalid) expect([value, fits(schema, value)]).toEqual([value, false]);
  });

  test('a keyword that is not enforced is reported with its path', () => {
    const { warnings } = compileSchema({
      properties: { a: { $ref: 'other.json#/x' }, b: { type: 'money' }, 'c/d': { enum: [] }, e: 5 },
    });
    expect(warnings).toEqual([
      '#/properties/a: other.json#/x is not in this document, and is not enforced',
      '#/properties/b: the type "money" is not known, and is not enforced',
      '#/properties/c~1d: the list of allowed values is empty, and is not enforced',
      '#/properties/e: this is not a schema, and is not enforced',
    ]);
  });
});

test('a problem has the path of the missing, unknown or repeated property itself', () => {
  expect(places({ required: ['a/b'] }, {})).toEqual(['/a~1b']);
  expect(places({ items: { additionalProperties: false } }, [{}, { x: 1 }])).toEqual(['/1/x']);
  expect(places({ properties: { tags: { uniqueItems: true } } }, { tags: ['a', 'b', 'a'] })).toEqual(['/tags/2']);
  expect(places({ propertyNames: { maxLength: 1 } }, { ab: 1 })).toEqual(['/ab']);
  expect(places({ type: 'object' }, 1)).toEqual(['']);
});
