import { describe, expect, test } from 'vitest';
import { exampleInput } from '../../catalog/examples.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { ToolChecker } from './tool-checker.js';

const checker = new ToolChecker(exampleInput);
const SEARCH: Tool = {
  serverId: 'tracker',
  name: 'search-issues',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', examples: ['is:open'] },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      state: { enum: ['open', 'closed', 'all'] },
      labels: { type: 'array', items: { type: 'string' } },
      filter: { type: 'object', properties: { author: { type: 'string' } }, additionalProperties: false },
      sort: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      exact: { type: 'boolean' },
    },
    required: ['query'],
    additionalProperties: false,
  },
};
const errorOf = (input: JsonValue | undefined, tool = SEARCH) => {
  const verdict = checker.checkArguments(tool, 'search_issues', input);
  if (verdict.ok) throw new Error('this input was taken');
  return verdict.error;
};

/** What programs get wrong most often, and what they read then. */
const PINS: readonly (readonly [
  what: string,
  input: JsonValue | undefined,
  message: string,
  hint: string,
  path: string,
])[] = [
  [
    'nothing where something is required',
    undefined,
    'at /query: expected required property "query": string, received nothing. Example: search_issues({"query":"is:open"})',
    'Add "query": string.',
    '/query',
  ],
  [
    'a required property under another name',
    { querry: 'x' },
    'at /query: expected required property "query": string, received "querry" instead. Also at /querry: expected only the properties "query", "limit", "state", "labels", "filter", "sort", "exact", received unknown property "querry". Example: search_issues({"query":"is:open"})',
    'Rename "querry" to "query".',
    '/query',
  ],
  [
    'an unknown property',
    { query: 'x', max_limit: 5 },
    'at /max_limit: expected only the properties "query", "limit", "state", "labels", "filter", "sort", "exact", received unknown property "max_limit". Example: search_issues({"query":"is:open"})',
    'Rename "max_limit" to "limit".',
    '/max_limit',
  ],
  [
    'an unknown property whose value another one takes',
    { query: 'x', only: 'open' },
    'at /only: expected only the properties "query", "limit", "state", "labels", "filter", "sort", "exact", received unknown property "only". Example: search_issues({"query":"is:open"})',
    'Rename "only" to "state".',
    '/only',
  ],
  [
    'a number in quotes',
    { query: 'x', limit: '10' },
    'at /limit: expected integer, received string "10". Example: search_issues({"query":"is:open","limit":1})',
    'Pass 10 without quotes.',
    '/limit',
  ],
  [
    'a number out of range',
    { query: 'x', limit: 1000 },
    'at /limit: expected number <= 100, received number 1000. Example: search_issues({"query":"is:open","limit":1})',
    'Use a number of at most 100.',
    '/limit',
  ],
  [
    'an allowed value in another case',
    { query: 'x', state: 'Open' },
    'at /state: expected one of "open", "closed", "all", received string "Open". Example: search_issues({"query":"is:open","state":"open"})',
    'Use "open".',
    '/state',
  ],
  [
    'one value where a list is wanted',
    { query: 'x', labels: 'bug' },
    'at /labels: expected array of string, received string "bug". Example: search_issues({"query":"is:open","labels":["text"]})',
    'Wrap it in an array: ["bug"].',
    '/labels',
  ],
  [
    'JSON text instead of an object',
    { query: 'x', filter: '{"author":"me"}' },
    'at /filter: expected object with "author", received string "{\\"author\\":\\"me\\"}". Example: search_issues({"query":"is:open","filter":{}})',
    'Pass the object itself, not its JSON text.',
    '/filter',
  ],
  [
    'null for something optional',
    { query: 'x', limit: null },
    'at /limit: expected integer, received null. Example: search_issues({"query":"is:open","limit":1})',
    'Leave out "limit" instead of passing null.',
    '/limit',
  ],
  [
    'arguments one after the other',
    'is:open',
    ': expected object with "query", "limit", "state", "labels", "filter", "sort", "exact", received string "is:open". Example: search_issues({"query":"is:open"})',
    'Pass one object with the arguments by name.',
    '',
  ],
  [
    'none of several types',
    { query: 'x', sort: 5 },
    'at /sort: expected string or null, received number 5. Example: search_issues({"query":"is:open","sort":"text"})',
    'Pass it as a string: "5".',
    '/sort',
  ],
  [
    'a misspelt name further down',
    { query: 'x', filter: { auther: 'me' } },
    'at /filter/auther: expected only the properties "author", received unknown property "auther". Example: search_issues({"query":"is:open","filter":{}})',
    'Rename "auther" to "author".',
    '/filter/auther',
  ],
];

describe('messages to the program', () => {
  test.each(PINS)('%s', (_, input, message, hint, path) => {
    const error = errorOf(input);
    const space = message.startsWith(':') ? '' : ' ';
    expect(error.message).toBe(`Invalid input for search_issues (tool "search-issues")${space}${message}`);
    expect(error.hint).toBe(hint);
    expect(error.fields?.['path']).toBe(path);
  });

  test('an error has everything that the contract asks for, as fields too', () => {
    expect(errorOf({ query: 'x', limit: 0.5 })).toEqual({
      errorClass: 'SchemaValidationError',
      message:
        'Invalid input for search_issues (tool "search-issues") at /limit: expected integer, received number 0.5. Example: search_issues({"query":"is:open","limit":1})',
      hint: 'Pass a whole number, such as 1.',
      fields: {
        toolName: 'search-issues',
        exportName: 'search_issues',
        path: '/limit',
        expected: 'integer',
        received: 'number 0.5',
        example: { query: 'is:open', limit: 1 },
      },
    });
  });

  test('a name that matches no pattern is reported with the patterns', () => {
    const inputSchema = {
      type: 'object',
      patternProperties: { '^x-': { type: 'string' } },
      additionalProperties: false,
    };
    const tagged: Tool = { serverId: 's', name: 'tag', inputSchema };
    expect(errorOf({ name: 'a' }, tagged).fields?.['expected']).toBe('only names that match "^x-"');
  });

  test('several mistakes are reported at once', () => {
    expect(errorOf({ limit: 'ten', state: 'x', labels: [1] }).message).toContain(
      'at /labels/0: expected string, received number 1. Also at /query: expected required property "query": string, received nothing; at /limit: expected integer, received string "ten"; at /state: expected one of',
    );
  });
});

describe('several forms', () => {
  const toolOf = (inputSchema: JsonObject): Tool => ({ serverId: 's', name: 'draw', inputSchema });
  const shapes = toolOf({
    type: 'object',
    properties: {
      shape: {
        oneOf: [
          {
            type: 'object',
            properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
            required: ['kind', 'radius'],
          },
          {
            type: 'object',
            properties: { kind: { const: 'square' }, side: { type: 'number' } },
            required: ['kind', 'side'],
          },
          { type: 'string' },
        ],
      },
    },
  });

  test('the form that was meant is the one whose discriminator was given', () => {
    expect(errorOf({ shape: { kind: 'square', side: 'x' } }, shapes).fields).toMatchObject({
      path: '/shape/side',
      expected: 'number',
    });
    expect(errorOf({ shape: { kind: 'circle' } }, shapes).fields).toMatchObject({ path: '/shape/radius' });
  });

  test('an unknown discriminator is reported with the known ones', () => {
    expect(errorOf({ shape: { kind: 'squar' } }, shapes)).toMatchObject({
      hint: 'Use "square".',
      fields: { path: '/shape/kind', expected: 'one of "circle", "square"' },
    });
  });

  test('a value that matches no alternative is reported with the types of all', () => {
    expect(errorOf({ shape: 5 }, shapes).fields).toMatchObject({ path: '/shape', expected: 'object or string' });
  });

  test('a value that matches several exclusive alternatives is reported', () => {
    const tool = toolOf({ oneOf: [{ required: ['a'] }, { required: ['b'] }] });
    expect(errorOf({ a: 1, b: 2 }, tool).fields).toMatchObject({
      expected: 'exactly one of 2 forms',
      received: 'object {"a":1,"b":2}, which matches more than one of them',
    });
  });
});

describe('roots', () => {
  const taken = (inputSchema: JsonObject | undefined, input: JsonValue | undefined) =>
    checker.checkArguments({ serverId: 's', name: 't', ...(inputSchema && { inputSchema }) }, 't', input).ok;

  test('no schema and an empty one take nothing, and {}', () => {
    for (const schema of [undefined, {}, { type: 'object' }, { type: 'object', properties: {} }]) {
      expect([taken(schema, undefined), taken(schema, {})]).toEqual([true, true]);
    }
  });

  test('a root that is not an object is taken as it is', () => {
    expect([taken({ type: 'string' }, 'a'), taken({ type: 'array' }, [])]).toEqual([true, true]);
    const tool: Tool = { serverId: 's', name: 't', inputSchema: { type: 'string' } };
    expect(errorOf(undefined, tool)).toMatchObject({ hint: 'Pass string.', fields: { path: '', received: 'nothing' } });
    expect(taken({ type: 'string' }, {})).toBe(false);
  });
});

describe('answers of tools', () => {
  const tool: Tool = {
    serverId: 's',
    name: 'users',
    outputSchema: {
      type: 'object',
      properties: { byMail: { type: 'object', additionalProperties: { properties: { age: { type: 'number' } } } } },
      required: ['byMail'],
    },
  };

  test('an answer that breaks its own schema gives one sentence with no value of the answer in it', () => {
    expect(checker.checkOutput(tool, { byMail: { 'ann@example.com': { age: 'secret' } } })).toBe(
      'The result of "users" breaks the tool\'s own output schema at /byMail/*/age: expected number, received string.',
    );
    expect(checker.checkOutput(tool, {})).toBe(
      'The result of "users" breaks the tool\'s own output schema at /byMail: expected required property "byMail": object, received nothing.',
    );
  });

  test('an answer that fits, or that nobody described, gives none', () => {
    expect(checker.checkOutput(tool, { byMail: {} })).toBeUndefined();
    expect(checker.checkOutput({ serverId: 's', name: 't' }, 'anything')).toBeUndefined();
    expect(checker.checkOutput({ serverId: 's', name: 't', outputSchema: {} }, undefined)).toBeUndefined();
  });

  test('a missing structured result is reported', () => {
    expect(checker.checkOutput(tool, undefined)).toBe(
      '"users" declares an output schema but sent no structured content.',
    );
  });
});
