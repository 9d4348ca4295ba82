import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../domain/json.js';
import { declare, inputOf, linesOf, tool, typeOf } from './typescript.test-support.js';

describe('types (A25)', () => {
  test.each<[string, JsonObject | boolean, string]>([
    ['a string', { type: 'string' }, 'string'],
    ['an integer', { type: 'integer' }, 'number'],
    ['an enumeration', { enum: ['x', 'y"', 1, -2.5, null, 'x'] }, '"x" | "y\\"" | 1 | -2.5 | null'],
    ['an enumeration with a type', { type: 'string', enum: ['x', 3, 'y'] }, '"x" | "y"'],
    ['both booleans', { enum: [null, true, false] }, 'boolean | null'],
    ['a constant', { const: 'k' }, '"k"'],
    ['a constant object', { const: { a: [1, 'x'], 'b c': {} } }, '{ a: [1, "x"]; "b c": Record<string, never> }'],
    ['a type list', { type: ['string', 'integer', 'null'] }, 'string | number | null'],
    ['nullable', { type: 'string', nullable: true }, 'string | null'],
    ['a nullable enumeration', { type: 'string', enum: ['x'], nullable: true }, '"x" | null'],
    ['null first', { anyOf: [{ type: 'null' }, { type: 'integer' }] }, 'number | null'],
    ['any', { type: 'any' }, 'unknown'],
    ['a shouted type', { type: 'STRING' }, 'string'],
    ['no type but a pattern', { pattern: '^a' }, 'string'],
    ['true', true, 'unknown'],
    ['false', false, 'never'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'string[]'],
    ['a list of unions', { type: 'array', items: { type: ['string', 'null'] } }, 'Array<string | null>'],
    ['a list of anything', { type: 'array' }, 'unknown[]'],
    ['a free object', { type: 'object' }, 'Record<string, unknown>'],
    ['a closed object', { type: 'object', additionalProperties: false }, 'Record<string, never>'],
    ['an object by its keyword', { unevaluatedProperties: { type: 'string' } }, '{ [key: string]: string }'],
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
    ['oneOf', { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'string | string[]'],
    ['nested unions', { anyOf: [{ oneOf: [{ const: 1 }, { const: 2 }] }, { type: 'null' }] }, '1 | 2 | null'],
    ['an option that is anything', { anyOf: [{ type: 'string' }, {}] }, 'unknown'],
    [
      'allOf of limits',
      {
        allOf: [
          { type: 'integer', minimum: 0 },
          { type: 'number', maximum: 50 },
        ],
      },
      'number',
    ],
    ['a type above options', { type: 'string', anyOf: [{ format: 'uri' }, { enum: ['x'] }] }, 'string'],
    ['limits beside options', { anyOf: [{ type: 'string' }, { type: 'null' }], minLength: 1 }, 'string | null'],
  ])('%s', (_, schema, expected) => {
    expect(typeOf(schema)).toBe(expected);
  });

  test.each<[string, JsonObject, string]>([
    [
      'of old drafts',
      { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false, minItems: 2 },
      '[string, number]',
    ],
    [
      'of 2020-12',
      { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 2 },
      '[string, number]',
    ],
    [
      'with optional elements',
      { prefixItems: [{ type: 'string' }, { type: ['number', 'null'] }], minItems: 1 },
      '[string, (number | null)?, ...unknown[]]',
    ],
    [
      'with a rest',
      { prefixItems: [{ type: 'string' }], items: { type: 'number' }, minItems: 1 },
      '[string, ...number[]]',
    ],
    ['cut by maxItems', { items: [{ type: 'string' }, { type: 'number' }], maxItems: 1 }, '[string?]'],
  ])('a tuple %s', (_, schema, expected) => {
    expect(typeOf({ type: 'array', ...schema })).toBe(expected);
  });

  test('required properties are required, and a required name without a schema is unknown (E9)', () => {
    expect(inputOf({ type: 'object', properties: { city: { type: 'string' } }, required: ['location'] })).toBe(
      'input: { city?: string; location: unknown }',
    );
  });

  test('a property that marks itself as required is required', () => {
    expect(inputOf({ type: 'object', properties: { a: { type: 'string', required: true } } })).toBe(
      'input: { a: string }',
    );
  });

  test('other keys stay compatible with the declared properties', () => {
    const properties = { k: { type: 'string' } };
    expect(typeOf({ type: 'object', properties, additionalProperties: true })).toBe(
      '{ k?: string; [key: string]: unknown }',
    );
    expect(typeOf({ type: 'object', properties, additionalProperties: { type: 'number' } })).toBe(
      '{ k?: string; [key: string]: number | string | undefined }',
    );
    expect(typeOf({ type: 'object', required: ['r'], additionalProperties: { type: 'boolean' } })).toBe(
      '{ r: boolean; [key: string]: boolean }',
    );
  });

  test('keys by pattern become a template where one can say it, else an index signature', () => {
    expect(
      typeOf({ type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false }),
    ).toBe('{ [key: `x-${string}`]: string }');
    expect(
      typeOf({
        type: 'object',
        properties: { n: { type: 'number' } },
        patternProperties: { '^\\d+$': { type: 'string' } },
      }),
    ).toBe('{ n?: number; [key: string]: string | number | undefined }');
  });

  test('keys from an enumeration become properties', () => {
    expect(
      typeOf({ type: 'object', propertyNames: { enum: ['a', 'b'] }, additionalProperties: { type: 'number' } }),
    ).toBe('{ a?: number; b?: number }');
  });

  test('objects of an allOf become one object', () => {
    expect(
      inputOf({
        $defs: { Base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
        allOf: [{ $ref: '#/$defs/Base' }, { properties: { n: { type: 'number' } }, required: ['n'] }],
      }),
    ).toBe('input: { id: string; n: number }');
  });

  test('short alternatives of required properties are written out, long ones are summarised', () => {
    const anyOf = [{ required: ['a'] }, { required: ['b'] }];
    const few = { a: { type: 'string' }, b: { type: 'string' } };
    expect(inputOf({ type: 'object', properties: few, anyOf })).toBe(
      'input: { a: string; b?: string } | { b: string; a?: string }',
    );
    const many = Object.fromEntries([...'abcdefghijklmnop'].map((name) => [name, { type: 'string' }]));
    expect(inputOf({ type: 'object', properties: many, anyOf })).toMatch(
      / p\?: string; \} & \(\{ a: unknown \} \| \{ b: unknown \}\)$/,
    );
  });

  test('names that are not identifiers are quoted, and __proto__ is an ordinary name', () => {
    const properties = JSON.parse(
      '{"a-b":{},"1x":{},"@odata.type":{},"__proto__":{},"class":{},"":{},"日本":{}}',
    ) as JsonObject;
    expect(inputOf({ type: 'object', properties })).toBe(
      'input?: { "a-b"?: unknown; "1x"?: unknown; "@odata.type"?: unknown; __proto__?: unknown; class?: unknown; ""?: unknown; "日本"?: unknown; }',
    );
  });
});

describe('references (A25)', () => {
  const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] };

  test('a definition that is used once is written in place, one that is used twice gets a name', () => {
    expect(inputOf({ type: 'object', $defs: { point }, properties: { p: { $ref: '#/$defs/point' } } })).toBe(
      'input?: { p?: { x: number } }',
    );
    const { text } = declare([
      tool('f', {
        type: 'object',
        definitions: { point },
        properties: { p: { $ref: '#/definitions/point' }, q: { $ref: '#/definitions/point' } },
      }),
    ]);
    expect(text).toContain('  interface Point { x: number }\n  export function f(input?: { p?: Point; q?: Point })');
  });

  test('equal definitions of several tools become one type, even under different reference names', () => {
    const list = (node: string, value: string) => ({
      type: 'object',
      $defs: {
        [node]: { type: 'object', properties: { v: { $ref: `#/$defs/${value}` }, next: { $ref: `#/$defs/${node}` } } },
        [value]: { enum: ['a long value to name', 'another long value', 'and a third one'] },
      },
      properties: { list: { $ref: `#/$defs/${node}` } },
    });
    const { text } = declare([tool('f', list('def0', 'def1')), tool('g', list('def7', 'def3'))], {
      detail: 'signatures',
    });
    expect(text.match(/interface|type /g)).toEqual(['interface']);
    expect(text).toContain('f(input?: { list?: List })');
    expect(text).toContain('g(input?: { list?: List })');
  });

  test('tools that numbers tell apart are named in every detail, the first of them too', () => {
    for (const detail of ['full', 'signatures'] as const) {
      const { text } = declare([tool('a.b'), tool('a-b'), tool('c.d')], { detail });
      expect(text).toMatch(/@tool "a-b"[\s\S]*function a_b\(/);
      expect(text).toMatch(/@tool "a\.b"[\s\S]*function a_b__2\(/);
      expect(text.includes('@tool "c.d"')).toBe(detail === 'full');
    }
  });

  test('different definitions with one name get different names', () => {
    const of = (type: string) => ({
      type: 'object',
      $defs: { Node: { type: 'object', properties: { v: { type }, next: { $ref: '#/$defs/Node' } } } },
      properties: { n: { $ref: '#/$defs/Node' } },
    });
    const { text } = declare([tool('f', of('string')), tool('g', of('number'))], { detail: 'signatures' });
    expect(text).toContain('interface Node { v?: string; next?: Node }');
    expect(text).toContain('interface Node2 { v?: number; next?: Node2 }');
  });

  test('a schema that refers to its root or to a property is named after the tool or the property', () => {
    const { text } = declare(
      [
        tool('walk', { type: 'object', properties: { v: { type: 'string' }, next: { $ref: '#' } } }),
        tool('g', {
          type: 'object',
          properties: { 'a/b': point, b: { $ref: '#/properties/a~1b' }, c: { $ref: '#/properties/a%7E1b' } },
        }),
      ],
      { detail: 'signatures' },
    );
    expect(text).toContain('interface Walk { v?: string; next?: Walk }\n  export function walk(input?: Walk)');
    expect(text).toContain('interface AB { x: number }\n  export function g(input?: { "a/b"?: AB; b?: AB; c?: AB })');
  });

  test('definitions that only refer to themselves are unknown', () => {
    const { text, warnings } = declare([
      tool('f', {
        type: 'object',
        $defs: {
          A: { $ref: '#/$defs/B' },
          B: { $ref: '#/$defs/A' },
          C: { anyOf: [{ $ref: '#/$defs/C' }, { type: 'string' }] },
        },
        properties: { a: { $ref: '#/$defs/A' }, c: { $ref: '#/$defs/C' } },
      }),
    ]);
    expect(text.match(/@warning refers only to itself/g)).toHaveLength(2);
    expect(warnings).toHaveLength(2);
  });

  test('a reference to another document is never followed', () => {
    expect(linesOf({ $ref: 'https://example.com/schema.json' })).toContain(
      '/** @warning refers to another document */',
    );
    expect(linesOf({ $ref: '#/nowhere' })).toContain('/** @warning refers to #/nowhere, which is not there */');
    expect(linesOf({ $ref: '#/constructor/prototype' })).toContain('p?: unknown;');
  });

  test('anchors and the own id of the document are understood', () => {
    const schema = {
      $id: 'https://example.com/own',
      type: 'object',
      $defs: { a: { $anchor: 'here', type: 'string' } },
      properties: { p: { $ref: '#here' }, q: { $ref: 'https://example.com/own#/$defs/a' } },
    };
    expect(inputOf(schema)).toBe('input?: { p?: string; q?: string }');
  });
});
