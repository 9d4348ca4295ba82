import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../domain/json.js';
import { readSchema, SCHEMA_BOUNDS } from './schema.js';
import { NO_NOTES, type ObjectShape, withoutReference } from './schema-model.js';

const warningsOf = (schema: JsonValue) => readSchema(schema).warnings;
const property = (schema: JsonValue, name: string) => {
  const { shape } = withoutReference(readSchema(schema).root);
  return (shape as ObjectShape).properties.get(name)?.node;
};

describe('reading foreign schemas', () => {
  test.each<[string, JsonValue | undefined]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 3],
    ['a list', []],
    [
      'wrongly typed keywords',
      { type: 7, properties: [], required: 'a', enum: 'b', anyOf: {}, allOf: 'c', items: 4, $ref: 5, $defs: [] },
    ],
    [
      'schemas that are none',
      { type: 'object', properties: { a: 'string', b: 3, c: null }, additionalProperties: 'no', items: [1] },
    ],
    [
      'wrongly typed words',
      { title: 1, description: {}, format: [], pattern: 2, minimum: '1', examples: {}, deprecated: 'yes' },
    ],
  ])('%s is read without an error', (_, schema) => {
    expect(() => readSchema(schema)).not.toThrow();
  });

  test('a relative reference is that of the schema with this $id, and never another one', () => {
    const item = {
      $id: 'item.json',
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: { type: 'number' } },
    };
    const schema = (ref: string) => ({
      $id: 'https://example.com/schemas/root.json',
      type: 'object',
      properties: { p: { $ref: ref }, own: { $ref: 'root.json#/$defs/x' } },
      $defs: { item, x: { type: 'string' } },
    });
    const kindOf = (ref: string, name = 'p') => {
      const node = property(schema(ref), name);
      return node === undefined ? undefined : withoutReference(node).shape.kind;
    };
    expect(kindOf('item.json')).toBe('object');
    expect(kindOf('item.json', 'own')).toBe('string');
    expect(kindOf('item.json#/$defs/x')).toBe('number');
    expect(kindOf('https://example.com/schemas/item.json#/properties/a')).toBe('number');
    expect(kindOf('other.json')).toBe('unknown');
    expect(warningsOf(schema('other.json'))).toEqual([
      { pointer: '#/properties/p', message: 'refers to another document' },
    ]);
  });

  test('a warning says where', () => {
    expect(warningsOf({ type: 'object', properties: { 'a/b': { items: { $ref: 'x.json' }, type: 'array' } } })).toEqual(
      [{ pointer: '#/properties/a~1b/items', message: 'refers to another document' }],
    );
    expect(warningsOf({ $defs: { d: { type: 'file' } }, $ref: '#/$defs/d' })).toEqual([
      { pointer: '#/$defs/d', message: 'the type "file" is not known' },
    ]);
  });

  test('a pointer reaches own members of the document only', () => {
    for (const reference of ['#/__proto__', '#/constructor', '#/properties/__proto__', '#/properties/p/$ref', '#/%']) {
      expect(warningsOf({ type: 'object', properties: { p: { $ref: reference } } })).toMatchObject([
        { message: `refers to ${reference}, which is not there` },
      ]);
    }
  });

  test('definitions and $defs stand in for each other', () => {
    expect(
      property(
        { type: 'object', definitions: { d: { type: 'string' } }, properties: { p: { $ref: '#/$defs/d' } } },
        'p',
      )?.shape.kind,
    ).toBe('reference');
  });

  test('two recursive types that both hold are merged once, not forever', () => {
    const list = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'string' }, next: { $ref: `#/$defs/${name}` } },
    });
    const schema = { $defs: { a: list('a'), b: list('b') }, allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] };
    const { shape } = readSchema(schema).root;
    expect([...(shape as ObjectShape).properties.keys()]).toEqual(['a', 'next', 'b']);
    expect(property(schema, 'next')?.shape.kind).toBe('intersection');
  });

  test('limits of both sides of an allOf add up', () => {
    const both = {
      allOf: [
        { type: 'integer', minimum: 1, maximum: 9 },
        { type: 'number', minimum: 3, maximum: 12 },
      ],
    };
    expect(readSchema(both).root).toEqual({
      shape: { kind: 'integer' },
      notes: { constraints: { minimum: 3, maximum: 9 } },
    });
  });

  test('a contradiction is never, and says so', () => {
    expect(
      property({ type: 'object', properties: { p: { allOf: [{ type: 'string' }, { type: 'null' }] } } }, 'p'),
    ).toEqual({
      shape: { kind: 'never' },
      notes: { warnings: ['no value can satisfy this schema'] },
    });
  });

  test('values that do not fit the declared type are kept, with a warning', () => {
    expect(property({ type: 'object', properties: { p: { type: 'string', enum: [1, 2] } } }, 'p')).toEqual({
      shape: { kind: 'literals', values: [1, 2] },
      notes: { warnings: ['these values do not fit the declared type'] },
    });
  });

  test('what a property says beside its reference is said of the property, not of the definition', () => {
    const schema = {
      type: 'object',
      $defs: { d: { type: 'string', description: 'D' } },
      properties: { p: { $ref: '#/$defs/d', description: 'P' } },
    };
    const node = property(schema, 'p');
    expect(node?.notes).toEqual({ description: 'P' });
    expect(node === undefined ? undefined : withoutReference(node).notes).toEqual({ description: 'D' });
  });

  test('beyond its bounds a schema is unknown', () => {
    let schema: JsonValue = { type: 'string' };
    for (let level = 0; level < SCHEMA_BOUNDS.depth + 5; level += 1) schema = { type: 'array', items: schema };
    expect(warningsOf(schema)).toMatchObject([{ message: 'nested too deeply to be declared' }]);
    const properties = Object.fromEntries(
      Array.from({ length: SCHEMA_BOUNDS.nodes + 5 }, (_, index) => [`p${index}`, { type: 'string' }]),
    );
    expect(warningsOf({ type: 'object', properties }).at(-1)?.message).toBe('the schema is too large to be declared');
  });

  test('a schema without words has no notes', () => {
    expect(readSchema({ type: 'string' }).root.notes).toBe(NO_NOTES);
  });
});
