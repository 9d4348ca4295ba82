import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.js';
import { ownToolsets } from './toolsets.mjs';

const servers = ownToolsets();
const tools = servers.flatMap((server) => server.tools);
const schemas: JsonValue[] = tools.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]);

/** Keywords with their values, wherever they stand. */
function* keywords(schema: JsonValue | undefined): Generator<readonly [string, JsonValue]> {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (!Array.isArray(schema)) yield [key, value as JsonValue];
    yield* keywords(value as JsonValue);
  }
}

/** The levels of properties within properties. */
function depth(schema: JsonValue | undefined): number {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 0;
  return 1 + Math.max(0, ...Object.values(schema.properties ?? {}).map((property) => depth(property as JsonValue)));
}

test('the corpus is as large as the other tests expect, and no server has two tools of one name', () => {
  expect([servers.length, tools.length]).toEqual([22, 436]);
  expect(tools.filter(({ outputSchema }) => outputSchema !== undefined).length).toBe(148);
  for (const { id, tools: own } of servers)
    expect([id, new Set(own.map(({ name }) => name)).size]).toEqual([id, own.length]);
});

test('the corpus uses every keyword of JSON Schema that tools use', () => {
  const found = new Set(schemas.flatMap((schema) => [...keywords(schema)].map(([key]) => key)));
  expect(KEYWORDS.filter((keyword) => !found.has(keyword))).toEqual([]);
});

test('the corpus has the forms that a keyword can take', () => {
  const values = (keyword: string) =>
    schemas.flatMap((schema) => [...keywords(schema)].flatMap(([key, value]) => (key === keyword ? [value] : [])));
  const kinds = (keyword: string) =>
    [...new Set(values(keyword).map((value) => (Array.isArray(value) ? 'array' : typeof value)))].sort();
  expect(kinds('additionalProperties')).toEqual(['boolean', 'object']);
  expect(new Set(values('additionalProperties').filter((value) => typeof value === 'boolean'))).toEqual(
    new Set([true, false]),
  );
  expect(kinds('exclusiveMinimum')).toEqual(['boolean', 'number']);
  expect(kinds('items')).toEqual(['array', 'boolean', 'object']);
  expect(kinds('type')).toEqual(expect.arrayContaining(['array', 'string']));
  expect(Math.max(...values('enum').map((list) => (list as JsonValue[]).length))).toBeGreaterThan(100);
  expect(Math.max(...schemas.map(depth))).toBeGreaterThan(14);
  expect(Math.max(...tools.map((tool) => JSON.stringify(tool).length))).toBeGreaterThan(25_000);
  expect(Math.max(...tools.map(({ description = '' }) => description.length))).toBeGreaterThan(1_000);
});

test('the corpus has names that no language takes as they are', () => {
  const names = tools.map(({ name }) => name as string);
  const unusual = [/^\d/, /\s/, /-/, /\./, /[^\p{ASCII}]/u, /["'`]/, /^class$/, /^lambda$/, /^func$/, /.{60}/];
  expect(unusual.filter((pattern) => !names.some((name) => pattern.test(name)))).toEqual([]);
});

const KEYWORDS = [
  ...[
    '$schema',
    '$defs',
    'definitions',
    '$ref',
    'id',
    'type',
    'enum',
    'const',
    'format',
    'pattern',
    'default',
    'examples',
  ],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems', 'contains'],
  ...[
    'properties',
    'patternProperties',
    'additionalProperties',
    'required',
    'propertyNames',
    'minProperties',
    'maxProperties',
  ],
  ...[
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'if',
    'then',
    'else',
    'dependentRequired',
    'dependentSchemas',
    'unevaluatedProperties',
  ],
  ...['nullable', 'deprecated', 'readOnly', 'writeOnly', '$comment', 'contentEncoding', 'contentMediaType'],
];
