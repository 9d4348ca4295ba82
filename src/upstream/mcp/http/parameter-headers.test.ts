import { expect, test } from 'vitest';
import type { JsonObject } from '../../../domain/json.js';
import { parameterHeaderFault } from './parameter-headers.js';

const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const argument = (header: unknown, type = 'string') => ({ type, 'x-mcp-header': header }) as JsonObject;

test('arguments that are strings, integers or booleans may be headers, at any depth', () => {
  expect(
    parameterHeaderFault(
      object({
        region: argument('Region'),
        'x-mcp-header': { type: 'string' },
        nested: object({ count: argument('Count', 'integer'), isOn: argument('Is-On', 'boolean') }),
        free: { default: { 'x-mcp-header': '' }, enum: [{ 'x-mcp-header': 1 }] },
      }),
    ),
  ).toBeUndefined();
});

test.each([
  ['an empty name', object({ a: argument('') })],
  ['a value that is not a string', object({ a: argument(7) })],
  ['a name that would begin another header', object({ a: argument('A: b\r\nCookie') })],
  ['an object', object({ a: argument('A', 'object') })],
  ['a number', object({ a: argument('A', 'number') })],
  ['the same name twice', object({ a: argument('Region'), b: argument('rEGION') })],
  ['the whole input', { ...object({}), 'x-mcp-header': 'A' }],
  ['an element of a list', object({ list: { type: 'array', items: argument('A') } })],
  ['one of several alternatives', { ...object({}), anyOf: [object({ a: argument('A') })] }],
  ['a definition', { ...object({}), $defs: { a: argument('A') } }],
])('a header annotation on or with %s is refused', (_what, schema) => {
  expect(parameterHeaderFault(schema as JsonObject)).toMatch(/^x-mcp-header .+/);
});

test('a schema deeper than the stack is searched completely', () => {
  let deep: JsonObject = argument('Not a name');
  for (let depth = 0; depth < 50_000; depth += 1) deep = object({ a: deep });
  expect(parameterHeaderFault(deep)).toBe('x-mcp-header "Not a name" is not the name of a header');
});
