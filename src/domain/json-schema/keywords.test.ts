import { expect, test } from 'vitest';
import type { JsonObject } from '../json.js';
import { readKeywords } from './keywords.js';

/** Without the keywords that are not there. */
function read(schema: JsonObject) {
  const isGiven = ([key, value]: [string, unknown]) =>
    value !== undefined && !(key.startsWith('is') && value === false);
  const { prefixKeyword: _, ...keywords } = readKeywords(schema);
  return Object.fromEntries(Object.entries(keywords).filter(isGiven));
}

test('keywords of older drafts are read in the form of 2020-12', () => {
  expect(read({ items: [{ type: 'string' }], additionalItems: false })).toEqual({
    prefixItems: [{ type: 'string' }],
    items: false,
  });
  expect(read({ dependencies: { a: ['b'], c: { required: ['d'] }, e: 5 } })).toEqual({
    dependentRequired: [['a', ['b']]],
    dependentSchemas: [['c', { required: ['d'] }]],
  });
  expect(read({ minimum: 3, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false })).toEqual({
    constraints: { exclusiveMinimum: 3, maximum: 9 },
  });
  expect(read({ type: 'STRING', nullable: true, example: 'x' })).toEqual({
    types: ['string'],
    isNullable: true,
    examples: ['x'],
  });
});

test('a keyword that holds something else than JSON Schema allows is left out', () => {
  expect(read({ type: 7, required: 'a', minLength: -1, maxItems: 2.5, multipleOf: 0, pattern: '', title: 1 })).toEqual(
    {},
  );
  expect(read({ properties: [], items: null, enum: 'a', anyOf: {}, oneOf: [], $ref: 5 })).toEqual({
    items: null,
    malformed: ['properties', 'items', 'enum', 'anyOf'],
  });
});

test('values may be null, and an author who wrote several references is heard on each', () => {
  expect(read({ const: null, default: null, $dynamicRef: '#b', $ref: '#a' })).toEqual({
    constant: null,
    default: null,
    references: ['#a', '#b'],
  });
});

test('where a list of items is written in two ways, the newer one counts', () => {
  const { prefixItems, prefixKeyword, items } = readKeywords({ prefixItems: [true], items: [false] });
  expect({ prefixItems, prefixKeyword, items }).toEqual({
    prefixItems: [true],
    prefixKeyword: 'prefixItems',
    items: undefined,
  });
  expect(readKeywords({ prefixItems: [], items: [false] }).prefixKeyword).toBe('items');
});

test('a key that every object inherits is no keyword', () => {
  expect(read(JSON.parse('{"__proto__":{"type":"string"},"constructor":{},"type":"null"}'))).toEqual({
    types: ['null'],
  });
});
