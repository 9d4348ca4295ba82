import { describe, expect, test } from 'vitest';
import * as z4 from 'zod';
import { z as z3 } from 'zod/v3';
import { isZod3, jsonSchemaOfZod3, type Zod3Schema } from './zod-3.js';

/** The same schema, written with each of the two. */
function both<T>(write: (z: typeof z4) => T): { old: Zod3Schema; current: z4.ZodType } {
  return { old: write(z3 as never) as never, current: write(z4) as never };
}

/** What `enum Colour { Red, Green = 'green' }` is compiled to. */
const Colour = { 0: 'Red', Red: 0, Green: 'green' } as const;

describe('a schema of zod 3 says the same as one of zod 4', () => {
  test.each<[string, (z: typeof z4) => unknown]>([
    ['an object', (z) => z.object({ query: z.string().describe('words'), limit: z.number().default(50) })],
    ['optional members', (z) => z.object({ a: z.string().optional(), b: z.string() })],
    ['strings', (z) => z.object({ a: z.string().min(1).max(9), b: z.string().regex(/^a+$/), c: z.string().length(3) })],
    [
      'numbers',
      (z) => z.object({ a: z.number().min(1).max(2), b: z.number().gt(1).lt(2), c: z.number().multipleOf(5) }),
    ],
    ['arrays', (z) => z.object({ a: z.array(z.boolean()).min(1).max(3), b: z.array(z.null()).length(2) })],
    ['literals', (z) => z.object({ a: z.enum(['x', 'y']) })],
    ['unions', (z) => z.union([z.string(), z.object({ n: z.number() })])],
    ['closed objects', (z) => z.object({ a: z.string() }).strict()],
    ['open objects', (z) => z.object({ a: z.string() }).passthrough()],
    ['objects with a rest', (z) => z.object({ a: z.string() }).catchall(z.number())],
    ['what only checks', (z) => z.object({ a: z.string().refine((text) => text !== 'b') })],
    ['what has no JSON', (z) => z.object({ a: z.any(), b: z.unknown(), c: z.date().optional() })],
    ['never', (z) => z.object({ a: z.never() })],
  ])('%s', (_, write) => {
    const { old, current } = both(write);
    const { $schema: _words, ...expected } = z4.toJSONSchema(current, { io: 'input', unrepresentable: 'any' });
    expect(jsonSchemaOfZod3(old, 'input')).toEqual(expected);
  });
});

test('formats, enums, tuples, records, integers and transforms of zod 3 are read', () => {
  const schema = z3.object({
    mail: z3.string().email(),
    link: z3.string().url(),
    at: z3.string().datetime(),
    kind: z3.nativeEnum(Colour),
    pair: z3.tuple([z3.string(), z3.number()]),
    byName: z3.record(z3.number()),
    whole: z3.number().int(),
    one: z3.literal(1),
    shape: z3.discriminatedUnion('type', [z3.object({ type: z3.literal('a') }), z3.object({ type: z3.literal('b') })]),
    size: z3.string().transform((text) => text.length),
    named: z3.string().brand('Name').readonly(),
    caught: z3.number().catch(1),
    any: z3.coerce.number(),
    none: z3.string().nullable(),
    two: z3.object({ a: z3.string() }).and(z3.object({ b: z3.string() })),
  });
  expect(jsonSchemaOfZod3(schema, 'input').properties).toEqual({
    mail: { type: 'string', format: 'email' },
    link: { type: 'string', format: 'uri' },
    at: { type: 'string', format: 'date-time' },
    kind: { enum: [0, 'green'] },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2, items: false },
    byName: { type: 'object', additionalProperties: { type: 'number' } },
    whole: { type: 'integer' },
    one: { const: 1 },
    shape: {
      anyOf: [
        { type: 'object', properties: { type: { const: 'a' } }, required: ['type'] },
        { type: 'object', properties: { type: { const: 'b' } }, required: ['type'] },
      ],
    },
    size: { type: 'string' },
    named: { type: 'string' },
    caught: { type: 'number' },
    any: {},
    none: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    two: {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    },
  });
});

test('what zod 3 gives back has its defaults, and nothing is said of what was transformed', () => {
  const schema = z3.object({ limit: z3.number().default(50), size: z3.string().transform((text) => text.length) });
  expect(jsonSchemaOfZod3(schema, 'output')).toEqual({
    type: 'object',
    properties: { limit: { type: 'number', default: 50 }, size: {} },
    required: ['limit', 'size'],
  });
});

test('a schema of zod 3 that holds itself is read once, and one that never ends is cut', () => {
  interface Tree {
    children: Tree[];
  }
  const tree: z3.ZodType<Tree> = z3.lazy(() => node);
  const node = z3.object({ children: z3.array(tree) });
  const read = jsonSchemaOfZod3(z3.object({ tree: node }) as never, 'input');
  expect(read).toEqual({
    type: 'object',
    properties: { tree: { $ref: '#/$defs/schema1' } },
    required: ['tree'],
    $defs: {
      schema1: {
        type: 'object',
        properties: { children: { type: 'array', items: { $ref: '#/$defs/schema1' } } },
        required: ['children'],
      },
    },
  });
  const endless = (): z3.ZodTypeAny => z3.array(z3.lazy(endless));
  expect(JSON.stringify(jsonSchemaOfZod3(endless() as never, 'input')).length).toBeLessThan(10_000);
});

test('only schemas of zod 3 are taken for some', () => {
  const others = [undefined, null, 1, {}, z4.object({}), { type: 'object' }];
  expect([z3.object({}), ...others].map(isZod3)).toEqual([true, ...others.map(() => false)]);
});
