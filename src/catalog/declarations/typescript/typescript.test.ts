import { describe, expect, test } from 'vitest';
import { typeCheck } from '../../../../test/support/type-check.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Tool } from '../../../domain/tool.js';
import { type DeclarationOptions, declareModule, declareScriptCalls } from './typescript.js';
import { declare, tool } from './typescript.test-support.js';
import { SCRIPT_DECLARATIONS, SHARED_DECLARATIONS } from './typescript-frames.js';

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

describe('bounds', () => {
  const nested = (depth: number): JsonObject =>
    depth === 0 ? { type: 'string' } : { type: 'object', properties: { [`level${depth}`]: nested(depth - 1) } };

  test('an oversized tool loses its text first, then deep nesting, and says how to see the rest', () => {
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

  test('ten thousand levels, a chain of a thousand definitions and endless merging all terminate', () => {
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

  test('are only marked where signatures are wanted, and left out where they do not fit', () => {
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

  test('are overloads of the one function for scripts, with the real names of servers and tools', () => {
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
