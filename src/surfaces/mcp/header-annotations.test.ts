import { expect, test } from 'vitest';
import { withoutHeaderAnnotations } from './header-annotations.js';

test('arguments that an upstream wants to see as headers are listed as plain arguments', () => {
  const listed = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      'x-mcp-header': { type: 'string' },
      nested: { type: 'object', properties: { zone: { type: 'integer', 'x-mcp-header': 'Zone' } } },
    },
  };
  expect(withoutHeaderAnnotations(listed)).toEqual({
    type: 'object',
    properties: {
      region: { type: 'string' },
      'x-mcp-header': { type: 'string' },
      nested: { type: 'object', properties: { zone: { type: 'integer' } } },
    },
  });
  expect(listed.properties.region).toHaveProperty('x-mcp-header');
});

test('a schema without such wishes is passed on as it is', () => {
  const schema = { type: 'object', properties: { region: { type: 'string' } } };
  expect(withoutHeaderAnnotations(schema)).toBe(schema);
});
