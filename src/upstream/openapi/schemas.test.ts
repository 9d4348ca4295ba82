import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { Pointers } from './pointer.js';
import { type Direction, SchemaRegistry } from './schemas.js';

function read(schema: JsonValue, schemas: JsonObject = {}, direction: Direction = 'input') {
  const warnings: string[] = [];
  const book = new SchemaRegistry(new Pointers({ components: { schemas } }), 48_000, (warning) =>
    warnings.push(warning),
  );
  const scope = book.open(direction);
  return { schema: scope.complete(scope.read(schema) as JsonObject), warnings };
}

test('words of 3.0 become those of JSON Schema, and words of neither are left out [C9]', () => {
  expect(
    read({
      type: 'object',
      discriminator: { propertyName: 'a' },
      properties: {
        a: { type: 'string', nullable: true, enum: ['x'], example: 'x', xml: {} },
        b: { nullable: true, allOf: [{ type: 'object' }] },
        c: { type: 'number', minimum: 3, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        d: { type: 'file' },
        e: { type: ['string', 'null'], const: 'x' },
      },
    }).schema,
  ).toEqual({
    type: 'object',
    properties: {
      a: { type: ['string', 'null'], enum: ['x', null] },
      b: { anyOf: [{ allOf: [{ type: 'object' }] }, { type: 'null' }] },
      c: { type: 'number', exclusiveMinimum: 3, maximum: 9 },
      d: {},
      e: { type: ['string', 'null'], const: 'x' },
    },
  });
});

test('references become definitions, once each, also from one to the next and to itself [C9]', () => {
  const schemas = { A: { items: { $ref: '#/components/schemas/B' } }, B: { not: { $ref: '#/components/schemas/B' } } };
  expect(read({ $ref: '#/components/schemas/A' }, schemas).schema).toEqual({
    $ref: '#/$defs/A',
    $defs: { A: { items: { $ref: '#/$defs/B' } }, B: { not: { $ref: '#/$defs/B' } } },
  });
  const names = { 'a/b': { type: 'string' }, a_b: { type: 'number' } };
  const both = { anyOf: [{ $ref: '#/components/schemas/a~1b' }, { $ref: '#/components/schemas/a_b' }] };
  expect(Object.values(read(both, names).schema.$defs as JsonObject)).toEqual([{ type: 'string' }, { type: 'number' }]);
});

test('what is only read is not sent, and what is only sent is not read [C9]', () => {
  const schema = {
    properties: { id: { readOnly: true }, password: { writeOnly: true }, name: {} },
    required: ['id', 'password', 'name', 'undeclared'],
  };
  expect(read(schema).schema).toEqual({
    properties: { password: {}, name: {} },
    required: ['password', 'name', 'undeclared'],
  });
  expect(read(schema, {}, 'output').schema).toEqual({
    properties: { id: {}, name: {} },
    required: ['id', 'name', 'undeclared'],
  });
});

test('what is too much to tell is declared as anything', () => {
  const big = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
      `S${index}`,
      { description: 'x'.repeat(2_000), enum: ['y'.repeat(2_000)] },
    ]),
  );
  const all = { anyOf: Object.keys(big).map((name) => ({ $ref: `#/components/schemas/${name}` })) };
  const { schema } = read(all, big);
  const definitions = Object.values(schema.$defs as JsonObject);
  expect(definitions).toHaveLength(20);
  expect(definitions.filter((each) => Object.keys(each as JsonObject).length === 0).length).toBeGreaterThan(5);
  expect(JSON.stringify(schema).length).toBeLessThan(50_000);
});
