import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../domain/json.js';
import { exampleInput } from './examples.js';

const exampleOf = (schema: JsonObject) =>
  (exampleInput({ type: 'object', properties: { p: schema }, required: ['p'] }) as JsonObject).p;

describe('example payloads (A27)', () => {
  test("the schema's own example comes first, then its default, then made-up values", () => {
    expect(
      exampleInput({ type: 'object', examples: [{ a: 1 }], properties: { a: { type: 'number' } }, required: ['a'] }),
    ).toEqual({ a: 1 });
    expect(exampleOf({ type: 'string', examples: ['x'], default: 'y' })).toBe('x');
    expect(exampleOf({ type: 'string', example: 'x' })).toBe('x');
    expect(exampleOf({ type: 'string', default: 'y' })).toBe('y');
    expect(exampleOf({ enum: ['a', 'b'] })).toBe('a');
    expect(exampleOf({ const: 7 })).toBe(7);
    expect(exampleOf({ type: 'string' })).toBe('text');
  });

  test('an example or a default that does not fit the schema is passed over', () => {
    expect(exampleOf({ type: 'string', examples: [1, 'ok'], default: null })).toBe('ok');
    expect(exampleOf({ type: 'integer', minimum: 5, default: 1 })).toBe(5);
  });

  test('a list that was asked for has an item, if it may', () => {
    const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const people = { type: 'array', items: person };
    const properties = { people, others: people, nobody: { ...people, maxItems: 0 } };
    const schema = { type: 'object', properties, required: ['people', 'others', 'nobody'] };
    expect(exampleInput(schema)).toEqual({ people: [], others: [], nobody: [] });
    expect(exampleInput(schema, ['people', 'nobody'])).toEqual({ people: [{ name: 'text' }], others: [], nobody: [] });
  });

  test('only what is required is there, and what was asked for', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'boolean' }, c: { type: 'null' } },
      required: ['a'],
    };
    expect(exampleInput(schema)).toEqual({ a: 'text' });
    expect(exampleInput(schema, ['b'])).toEqual({ a: 'text', b: true });
    expect(exampleInput({ ...schema, examples: [{ a: 'x' }] }, ['b'])).toEqual({ a: 'text', b: true });
    expect(exampleInput({ ...schema, examples: [{ a: 'x' }, { a: 'y', b: false }] }, ['b'])).toEqual({
      a: 'y',
      b: false,
    });
    expect(exampleInput({ ...schema, examples: [{ a: 'x' }] }, ['unknown'])).toEqual({ a: 'x' });
    expect(exampleInput(undefined)).toEqual({});
    expect(exampleInput({})).toEqual({});
  });

  test.each([
    [{ type: 'string', format: 'date-time' }, '2025-01-31T12:00:00Z'],
    [{ type: 'string', minLength: 6 }, 'textxx'],
    [{ type: 'string', maxLength: 2 }, 'te'],
    [{ type: 'string', pattern: '^[A-Z]{3}-\\d+$' }, 'AAA-1'],
    [{ type: 'string', format: 'constructor' }, 'text'],
    [{ type: 'integer', minimum: 10, multipleOf: 4 }, 12],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 0.5 }, 0.5],
    [{ type: 'integer', maximum: -3 }, -3],
    [{ type: 'array', items: { type: 'string' } }, []],
    [{ type: 'array', items: { enum: ['a', 'b'] }, minItems: 2, uniqueItems: true }, ['a', 'b']],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2 }, ['text', 1]],
    [{ anyOf: [{ type: 'null' }, { type: 'integer' }] }, 1],
    [
      { allOf: [{ type: 'object', properties: { a: { const: 1 } }, required: ['a'] }, { required: ['b'] }] },
      { a: 1, b: 'value' },
    ],
    [{ type: 'object', minProperties: 1, additionalProperties: { type: 'number' } }, { key1: 1 }],
  ])('%j', (schema, expected) => {
    expect(exampleOf(schema as JsonObject)).toEqual(expected);
  });

  test('a recursive schema is satisfied with as little depth as it takes', () => {
    const $defs = {
      group: {
        type: 'object',
        properties: { of: { type: 'array', minItems: 1, items: { $ref: '#/$defs/filter' } } },
        required: ['of'],
      },
      filter: {
        anyOf: [
          { $ref: '#/$defs/group' },
          { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        ],
      },
    };
    expect(exampleInput({ $defs, $ref: '#/$defs/group' })).toEqual({ of: [{ name: 'text' }] });
  });

  test('a recursive schema, one with a million items or a __proto__ key gets a bounded example', () => {
    const endless = exampleInput({ type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] });
    expect(JSON.stringify(endless).length).toBeLessThan(1_000);
    expect(exampleOf({ type: 'array', items: { type: 'string' }, minItems: 1e9 })).toHaveLength(16);
    expect((exampleOf({ type: 'string', minLength: 1e9 }) as string).length).toBe(256);
    const proto = exampleInput(
      JSON.parse('{"type":"object","required":["__proto__"],"properties":{"__proto__":{"const":1}}}'),
    );
    expect(JSON.stringify(proto)).toBe('{"__proto__":1}');
  });
});
