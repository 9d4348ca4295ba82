import { describe, expect, test } from 'vitest';
import { typeCheck } from '../../../../test/support/type-check.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Tool } from '../../../domain/tool.js';
import { type DeclarationOptions, declareModule, declareScriptCalls } from './typescript.js';
import { SCRIPT_DECLARATIONS, SHARED_DECLARATIONS } from './typescript-frames.js';

const tool = (name: string, inputSchema?: JsonObject, more: Partial<Tool> = {}): Tool => ({
  serverId: 'srv',
  name,
  ...(inputSchema === undefined ? {} : { inputSchema }),
  ...more,
});

function declare(tools: readonly Tool[], options?: DeclarationOptions) {
  const declaration = declareModule({ path: 'srv', serverId: 'srv', serverName: 'Server', tools }, options);
  const errors = typeCheck(
    new Map([
      ['/shared.d.ts', SHARED_DECLARATIONS],
      ['/srv.d.ts', declaration.text],
    ]),
  );
  expect(errors).toEqual([]);
  return declaration;
}

/** The declaration of one tool's input, without words, on one line. */
function inputOf(schema: JsonObject): string {
  const { text } = declare([tool('f', schema)], { detail: 'signatures' });
  const flat = text.replace(/\s+/g, ' ');
  return flat.slice(flat.indexOf('{') + 2, flat.indexOf('): Promise')).replace('export function f(', '');
}

/** The type of one property `p`. */
const typeOf = (schema: JsonObject | boolean): string =>
  inputOf({ type: 'object', properties: { p: schema }, required: ['p'] }).replace(/^input: \{ p: (.*?);? \}$/, '$1');

/** Everything that is written about one tool with one property, in full detail. */
const linesOf = (schema: JsonObject, more: Partial<Tool> = {}): string[] =>
  declare([tool('f', { type: 'object', properties: { p: schema } }, more)])
    .text.split('\n')
    .slice(2, -4)
    .map((line) => line.trim());

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

  test('required properties are required, and a required name without a schema is an unknown field (E9)', () => {
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

  test('alternatives in what is required are written out while they are short, and added while they are not', () => {
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

  test('names that are no identifiers are quoted, and __proto__ is a name like any other', () => {
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

  test('equal definitions of several tools are one type, also where they refer to each other under other names', () => {
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

describe('functions (A21-A23)', () => {
  const signature = (one: Tool): string | undefined =>
    declare([one], { detail: 'signatures' })
      .text.split('\n')
      .find((line) => line.includes('export function'))
      ?.trim();

  test.each<[string, JsonObject | undefined]>([
    ['absent', undefined],
    ['empty', {}],
    ['an object without properties', { type: 'object', properties: {} }],
    ['closed and empty', { type: 'object', properties: {}, additionalProperties: false }],
  ])('an input schema that is %s takes nothing or {}', (_, schema) => {
    expect(signature(tool('f', schema))).toBe('export function f(input?: Record<string, never>): Promise<ToolOutput>;');
  });

  test('an input schema that says no more than object takes any object [A22]', () => {
    expect(signature(tool('f', { type: 'object' }))).toBe(
      'export function f(input?: Record<string, unknown>): Promise<ToolOutput>;',
    );
  });

  test('the input may be left out where nothing is required', () => {
    expect(signature(tool('f', { type: 'object', properties: { a: { type: 'string' } } }))).toContain(
      'f(input?: { a?: string })',
    );
  });

  test('a root that is not an object is taken as it is', () => {
    expect(signature(tool('f', { type: 'array', items: { type: 'string' } }))).toContain('f(input: string[])');
  });

  test('a declared output is the type of the result', () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    expect(signature(tool('f', {}, { outputSchema }))).toContain('): Promise<{ n: number }>;');
    expect(signature(tool('f', {}, { outputSchema: {} }))).toContain('): Promise<ToolOutput>;');
  });

  test('every kind of unwrapped result fits the shared output type', () => {
    const results = [
      '"text"',
      '{ rows: [1, null] }',
      '[1]',
      '{ content: [{ type: "image", data: "", mimeType: "image/png" }] }',
      '4',
    ];
    const values = results.map((result, index) => `const r${index}: ToolOutput = ${result};`).join('\n');
    expect(
      typeCheck(
        new Map([
          ['/shared.d.ts', SHARED_DECLARATIONS],
          ['/values.ts', `export {};\n${values}`],
        ]),
      ),
    ).toEqual([]);
  });

  test('a tool under another name says its real one, and a doubled name is reported', () => {
    const { text, warnings } = declare([
      tool('list-all', {}),
      tool('list.all', {}),
      tool('list-all', { type: 'string' }),
    ]);
    expect(text).toContain('@tool "list-all"');
    expect(text).toContain('export function list_all__2(');
    expect(warnings).toEqual([
      { toolName: 'list-all', message: 'the server lists this name more than once; the first one is used' },
    ]);
  });

  test('names of built-ins, contextual keywords and shared types are legal tool names', () => {
    const names = [
      'Promise',
      'console',
      'Array',
      'Record',
      'ToolOutput',
      'undefined',
      'globalThis',
      'then',
      '__meta__',
      '__proto__',
    ];
    const more = [
      'async',
      'type',
      'of',
      'get',
      'declare',
      'module',
      'any',
      'string',
      'never',
      'require',
      'exports',
      'Object',
      '',
      '🚀',
    ];
    const node = {
      type: 'object',
      $defs: { Promise: { type: 'object', properties: { next: { $ref: '#/$defs/Promise' } } } },
      $ref: '#/$defs/Promise',
    };
    declare([...names, ...more].map((name) => tool(name, node)));
  });
});

describe('documentation', () => {
  test('a property says its description, default, format, limits, example and deprecation', () => {
    expect(
      linesOf({
        type: 'integer',
        description: 'How many.\n\nAt most a hundred.',
        default: 30,
        minimum: 1,
        maximum: 100,
      }),
    ).toEqual([
      'export function f(input?: {',
      '/**',
      '* How many.',
      '* At most a hundred.',
      '* @integer @default 30 @minimum 1 @maximum 100',
      '*/',
      'p?: number;',
      '}): Promise<ToolOutput>;',
    ]);
    expect(linesOf({ type: 'string', format: 'date', examples: ['2025-01-31'], deprecated: true })).toEqual([
      'export function f(input?: {',
      '/**',
      '* @format date @example "2025-01-31"',
      '* @deprecated',
      '*/',
      'p?: string;',
      '}): Promise<ToolOutput>;',
    ]);
  });

  test('a limit in the way of draft-04 is understood', () => {
    expect(linesOf({ type: 'number', minimum: 3, exclusiveMinimum: true })).toContain('/** @exclusiveMinimum 3 */');
  });

  test('words about the items of a list and about the one option beside null are kept', () => {
    expect(linesOf({ type: 'array', items: { type: 'string', format: 'uuid', description: 'An id.' } })).toContain(
      '/** @items An id. @format uuid */',
    );
    expect(linesOf({ anyOf: [{ type: 'string', description: 'A name.' }, { type: 'null' }] })).toContain(
      '/** A name. */',
    );
  });

  test('a tool says its annotations and that it is deprecated (A26)', () => {
    const annotations = { readOnlyHint: true, destructiveHint: false };
    expect(linesOf({}, { description: 'Reads.', annotations, deprecated: true }).slice(0, 5)).toEqual([
      '/**',
      '* Reads.',
      '* @annotations readOnlyHint: true, destructiveHint: false',
      '* @deprecated',
      '*/',
    ]);
  });

  test('what a type cannot say is a warning beside it', () => {
    expect(linesOf({ type: 'string', not: { const: 'x' } })).toContain(
      '/** @warning not expressed in this type: not */',
    );
    const { text } = declare([tool('f', { type: 'object', if: { required: ['a'] }, else: { required: ['b'] } })]);
    expect(text).toContain('/** @warning not expressed in this type: if/then/else */');
  });

  test('compact keeps one sentence, defaults and formats; every level keeps annotations and warnings [A26]', () => {
    const schema = {
      type: 'object',
      properties: {
        p: { type: 'string', description: 'One, e.g. this. Two.', default: 'x', maxLength: 9, format: 'uri' },
      },
    };
    const one = tool('f', schema, {
      description: 'First. Second.\nThird.',
      annotations: { title: 'Effs', readOnlyHint: false, destructiveHint: true },
    });
    const compact = declare([one], { detail: 'compact' }).text;
    expect(compact).toContain('/** One, e.g. this. @default "x" @format uri */');
    const hints = 'title: "Effs", readOnlyHint: false, destructiveHint: true';
    expect(compact).toContain(`   * First.\n   * @annotations ${hints}\n`);
    expect(compact).not.toMatch(/Second|Two|maxLength/);
    const { text } = declare([one, tool('g', { type: 'object', properties: { p: { not: {} } } })], {
      detail: 'signatures',
    });
    expect(text).toContain(`  /** @annotations ${hints} */\n  export function f(`);
    expect(text).toContain('/** @warning not expressed in this type: not */');
    expect(text).not.toMatch(/First|One/);
  });

  test('a title that is only the name in other letters is not repeated', () => {
    expect(declare([tool('list_issues', {}, { title: 'List issues' })]).text).not.toContain('List issues');
  });

  test.each<[string, JsonObject]>([
    ['properties', { type: 'object', properties: 'none' }],
    ['enum', { type: 'object', enum: 'a' }],
    ['anyOf', { type: 'object', anyOf: {} }],
  ])('a schema whose %s cannot be read warns and takes any object', (keyword, schema) => {
    const { text } = declare([tool('f', schema)]);
    expect(text).toContain(`/** @warning ${keyword} is not what JSON Schema says, and is left out */`);
    expect(text).toContain('f(input?: Record<string, unknown>)');
  });

  test('an output schema that cannot be declared warns above the tool', () => {
    const { text } = declare([tool('f', {}, { outputSchema: { $ref: 'https://example.com/x' } })]);
    expect(text).toContain('/** @warning output: refers to another document */');
  });
});

describe('bounds', () => {
  const nested = (depth: number): JsonObject =>
    depth === 0 ? { type: 'string' } : { type: 'object', properties: { [`level${depth}`]: nested(depth - 1) } };

  test('a tool that is too large loses its words first, then what is nested deeply, and says how to see the rest', () => {
    const wordy = {
      type: 'object',
      properties: { a: { type: 'string', description: 'word '.repeat(90) }, b: nested(2) },
    };
    const words = declare([tool('f', wordy)], { maximumToolCharacters: 300 });
    expect(words.text).toContain(
      'descriptions are left out; getTool("srv", "f") of @codemode/discovery has the whole schema',
    );
    expect(words.text).toContain('b?: { level2?: { level1?: string } }');
    const wide = {
      type: 'object',
      properties: Object.fromEntries([1, 2, 3, 4].map((index) => [`p${index}`, nested(9)])),
    };
    const cut = declare([tool('f', wide)], { maximumToolCharacters: 500 });
    expect(cut.text).toContain('deeply nested parts are cut to unknown');
    expect(cut.text.length).toBeLessThan(1_000);
    expect(cut.warnings).toHaveLength(1);
  });

  test('a tool that does not fit at all is declared without types', () => {
    const wide = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, { type: 'string' }])),
    };
    const { text } = declare([tool('f', wide)], { maximumToolCharacters: 500 });
    expect(text).toContain('export function f(input: unknown): Promise<unknown>;');
  });

  test('ten thousand levels, a thousand definitions in a chain and merging without end all come to an end', () => {
    let deep = '{"type":"string"}';
    for (let level = 0; level < 3_000; level += 1) deep = `{"type":"object","properties":{"a":${deep}}}`;
    const chain = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [
        `d${index}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/d${index + 1}` } } },
      ]),
    );
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `d${index}`,
        {
          allOf: [
            { $ref: `#/$defs/d${index + 1}` },
            { properties: { [`p${index}`]: { $ref: `#/$defs/d${index + 1}` } } },
            { $ref: `#/$defs/d${index + 2}` },
          ],
        },
      ]),
    );
    const { warnings } = declare([
      tool('deep', JSON.parse(deep) as JsonObject),
      tool('chain', { type: 'object', $defs: chain, properties: { a: { $ref: '#/$defs/d0' } } }),
      tool('doubling', { type: 'object', $defs: doubling, properties: { a: { $ref: '#/$defs/d0' } } }),
      tool('options', {
        type: 'object',
        properties: { a: { anyOf: Array.from({ length: 5_000 }, (_, index) => ({ const: index })) } },
      }),
      tool('values', {
        type: 'object',
        properties: { a: { type: 'string', enum: Array.from({ length: 5_000 }, String) } },
      }),
    ]);
    expect(warnings.map(({ toolName }) => toolName)).toEqual(
      expect.arrayContaining(['deep', 'chain', 'options', 'values']),
    );
  });
});

describe('observed types', () => {
  const tools: Tool[] = [
    { serverId: 's', name: 'plain', description: 'Says something.' },
    { serverId: 's', name: 'declared', outputSchema: { type: 'object', properties: { a: { type: 'number' } } } },
    { serverId: 's', name: 'unseen' },
  ];
  const declareObserved = (options: DeclarationOptions) =>
    declareModule({ path: 's', serverId: 's', serverName: 'S', tools }, options).text;
  const observedTypeOf = (tool: Tool) => (tool.name === 'unseen' ? undefined : '{\n  id: number;\n}');

  test('stand only where no output is declared, and say that they are observed', () => {
    expect(declareObserved({ observedTypeOf })).toBe(`/** S */
declare module "@codemode/servers/s" {
  /**
   * Says something.
   * Observed, not declared: the result type is what earlier calls returned; others may differ.
   */
  export function plain(input?: Record<string, never>): Promise<{
    id: number;
  }>;

  export function declared(input?: Record<string, never>): Promise<{ a?: number }>;

  export function unseen(input?: Record<string, never>): Promise<ToolOutput>;

  export const __meta__: ServerMeta;
}
`);
  });

  test('come with a mark alone where only signatures are wanted, and not at all where they do not fit', () => {
    expect(declareObserved({ observedTypeOf, detail: 'signatures' })).toContain(
      'plain(input?: Record<string, never>): Promise</* observed, not declared */ {',
    );
    expect(declareObserved({ observedTypeOf, detail: 'signatures' })).not.toContain('Observed');
    expect(declareObserved({ observedTypeOf, maximumToolCharacters: 60 })).not.toContain('id: number');
  });
});

describe('declarations for scripts', () => {
  const tools = [
    tool('list-repos', { type: 'object', properties: { owner: { type: 'string' } }, required: ['owner'] }),
    tool(
      'whoami',
      {},
      { description: 'Says who.', outputSchema: { type: 'object', properties: { n: { type: 'number' } } } },
    ),
  ];
  const { text } = declareScriptCalls({ path: 'git', serverId: 'git "hub', serverName: 'Git', tools });
  const complaintsOf = (script: string) => {
    const files = { '/all.d.ts': SCRIPT_DECLARATIONS, '/git.d.ts': text, '/script.ts': script };
    return typeCheck(new Map(Object.entries(files)));
  };

  test('are overloads of the one function that scripts have, by the names that servers and tools really have', () => {
    expect(text).toBe(`/** Git (configured as "git \\"hub") */
declare function call_tool(server: "git \\"hub", tool: "list-repos", args: { owner: string }): CallResult<JsonValue>;

/** Says who. */
declare function call_tool(server: "git \\"hub", tool: "whoami", args?: Record<string, never>): CallResult<{ n?: number }>;
`);
  });

  test('tell a right call from a wrong one', () => {
    const right = `const me = call_tool('git "hub', 'whoami'); const n = me.ok ? me.result.n : me.error.message;
      call_tool('git "hub', 'list-repos', { owner: 'a' });`;
    expect(complaintsOf(right)).toEqual([]);
    expect(complaintsOf(`call_tool('git "hub', 'list-repos', { owner: 1 });`)).toHaveLength(1);
    expect(complaintsOf(`call_tool('git "hub', 'nothing');`)).toHaveLength(1);
  });
});
