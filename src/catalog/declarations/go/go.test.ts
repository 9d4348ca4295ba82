import { describe, expect, test } from 'vitest';
import { GO_ROOTS, goBuild, unformatted } from '../../../../test/support/go.js';
import { needs } from '../../../../test/support/needs.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Tool } from '../../../domain/tool.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { declareGo, GO_HELPERS, goFile, goText } from './go.js';
import { CITY, declare, tool, WEATHER } from './go.test-support.js';

/** The fields of the input of a tool `f`, and what is declared for them, without words. */
function fieldsOf(properties: JsonObject, required: readonly string[] = []): string[] {
  const schema = { type: 'object', properties, required: [...required] };
  const lines = declare([tool('f', schema)], { detail: 'signatures' }).split('\n');
  return lines.slice(1, lines.indexOf('}')).map((line) => line.trim().replace(/ +/g, ' '));
}

/** Everything that is compiled in these tests at once: one start of the compiler is dearer than all of it. */
const EVERYTHING: Tool[] = [WEATHER, CITY];
const remember = (tools: readonly Tool[]) => {
  EVERYTHING.push(...tools.map((each) => ({ ...each, serverId: `s${EVERYTHING.length}-${each.serverId}` })));
  return tools;
};

describe('types (E2)', () => {
  test.each<[string, JsonObject | boolean, string, string]>([
    ['a string', { type: 'string' }, 'string', 'string'],
    ['a number', { type: 'number' }, 'float64', '*float64'],
    ['an integer', { type: 'integer' }, 'int', '*int'],
    ['an integer that is never 0', { type: 'integer', minimum: 1 }, 'int', 'int'],
    ['a boolean', { type: 'boolean' }, 'bool', '*bool'],
    ['a boolean that is false if left out', { type: 'boolean', default: false }, 'bool', 'bool'],
    ['a boolean that is true if left out', { type: 'boolean', default: true }, 'bool', '*bool'],
    ['an enumeration', { enum: ['x', 'y'] }, 'FInputP', 'FInputP'],
    ['an enumeration with nothing in it', { enum: ['', 'y'] }, 'FInputP', '*FInputP'],
    ['a nullable string', { type: ['string', 'null'] }, '*string', 'string'],
    ['a nullable enumeration', { enum: ['x', null] }, '*FInputP', 'FInputP'],
    ['a list', { type: 'array', items: { type: 'integer' } }, '[]int', '[]int'],
    ['a list with holes', { type: 'array', items: { type: ['string', 'null'] } }, '[]*string', '[]*string'],
    ['a list of lists', { type: 'array', items: { type: 'array' } }, '[][]any', '[][]any'],
    ['a free object', { type: 'object' }, 'map[string]any', 'map[string]any'],
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }, 'map[string]float64', 'map[string]float64'],
    ['an object', { type: 'object', properties: { a: { type: 'string' } } }, 'FInputP', '*FInputP'],
    ['anything', {}, 'any', 'any'],
    ['nothing', false, 'any', 'any'],
    ['a number or a text', { type: ['number', 'string'] }, 'any', 'any'],
    ['two kinds of number', { anyOf: [{ type: 'integer' }, { type: 'number' }] }, 'float64', '*float64'],
    ['a text or some texts', { anyOf: [{ const: 'a' }, { type: 'string' }] }, 'string', 'string'],
    ['a pair', { prefixItems: [{ type: 'number' }, { type: 'number' }], minItems: 2 }, '[2]float64', '*[2]float64'],
    ['a tuple', { prefixItems: [{ type: 'string' }, { type: 'number' }] }, '[]any', '[]any'],
    ['a key that no tag can hold', { type: 'object', properties: { 'a,"b': {} } }, 'map[string]any', 'map[string]any'],
  ])('%s', (_, schema, required, optional) => {
    remember([
      tool('f', { type: 'object', properties: { p: schema } }),
      tool('g', { type: 'object', properties: { p: schema }, required: ['p'] }),
    ]);
    const typeIn = (fields: readonly string[]) => fields.at(-1)?.split(' ')[1];
    expect([typeIn(fieldsOf({ p: schema }, ['p'])), typeIn(fieldsOf({ p: schema }))]).toEqual([required, optional]);
  });

  test('options of a union are declared and named', () => {
    const target = {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'user' }, id: { type: 'string' } } },
        { type: 'object', title: 'Team', properties: { team: { type: 'string' } } },
        { type: 'string' },
      ],
    };
    expect(fieldsOf({ target })).toEqual([
      '// Target One of: FInputTargetUser, FInputTargetTeam, string.',
      'Target any `json:"target,omitempty"`',
    ]);
    const text = declare(remember([tool('f', { type: 'object', properties: { target } })]));
    expect(text).toContain('type FInputTargetUser struct {');
    expect(text).toContain('type FInputTargetTeam struct {');
  });

  test('a list that may be null says so, and nothing else does', () => {
    expect(
      fieldsOf(
        { a: { type: ['array', 'null'], items: { type: 'string' } }, b: { type: 'array', items: { type: 'string' } } },
        ['a', 'b'],
      ),
    ).toEqual(['A []string `json:"a,nullable"`', 'B []string `json:"b"`']);
  });

  test('types contain themselves through pointers, lists and maps', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        root: { $ref: '#/$defs/node' },
        list: { $ref: '#/$defs/list' },
        tree: { $ref: '#/$defs/tree' },
        other: { $ref: '#/$defs/other' },
      },
      required: ['root'],
      $defs: {
        node: {
          type: 'object',
          properties: { next: { $ref: '#/$defs/node' }, all: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['next', 'all'],
        },
        list: { type: 'array', items: { $ref: '#/$defs/list' } },
        other: { $ref: '#/$defs/same' },
        same: { type: 'object', properties: { other: { $ref: '#/$defs/other' } } },
        tree: {
          anyOf: [
            { type: 'null' },
            { type: 'object', properties: { left: { $ref: '#/$defs/tree' } }, required: ['left'] },
          ],
        },
      },
    };
    const text = declare(
      remember([tool('f', schema), tool('g', { $ref: '#/$defs/node', $defs: schema.$defs as JsonObject })]),
    ).replace(/ +/g, ' ');
    expect(text).toContain('Next *FInputNode `json:"next"`\n\tAll []FInputNode `json:"all"`');
    expect(text).toContain('type FInputList []FInputList\n');
    expect(text).toContain('Left *FInputTree `json:"left"`');
    expect(text).toContain('type GInput = FInputNode\n');
  });

  test('an output that is not declared is text', () => {
    const text = declare([
      tool('a'),
      tool('b', {}, { outputSchema: {} }),
      tool('c', {}, { outputSchema: { type: 'array', items: { type: 'string' } } }),
    ]);
    expect(text).toBe(
      'var a func(ctx context.Context) (string, error)\n\nvar b func(ctx context.Context) (string, error)\n\ntype COutput []string\n\nvar c func(ctx context.Context) (COutput, error)\n',
    );
  });
});

describe('names', () => {
  test.each([
    ['get_weather', 'getWeather', 'GetWeather'],
    ['API-get-user', 'apiGetUser', 'APIGetUser'],
    ['fetch_url', 'fetchURL', 'FetchURL'],
    ['getUserIds', 'getUserIDs', 'GetUserIDs'],
    ['HTTPServer.start', 'httpServerStart', 'HTTPServerStart'],
    ['type', 'type_', 'Type'],
    ['len', 'len_', 'Len'],
    ['time', 'time_', 'Time'],
    ['2fa', 'x2fa', 'X2fa'],
    ['🚀', 'tool', 'Tool'],
    ['搜索', '搜索', '搜索'],
    ['größe', 'größe', 'Größe'],
    ['init', 'init_', 'Init'],
  ])('%s is called %s', (name, functionName, stem) => {
    const given = remember([tool(name, { type: 'object', properties: { a: {} } })]);
    expect(declare(given)).toContain(
      `var ${functionName} func(ctx context.Context, input ${stem}Input) (string, error)`,
    );
  });

  test("equal names of several servers get the server's name, of one server numbers, in any order", () => {
    const tools = [
      tool('a.b', undefined, { serverId: 's2' }),
      tool('a_b', undefined, { serverId: 's1' }),
      tool('aB', undefined, { serverId: 's1' }),
    ];
    const named = (list: readonly Tool[]) =>
      declareGo(list).functions.map((each) => `${each.name} ${each.tool.serverId} ${each.tool.name}`);
    expect(named(tools)).toEqual(['s1AB s1 aB', 's1AB2 s1 a_b', 's2AB s2 a.b']);
    expect(named([...tools].reverse())).toEqual(named(tools));
    expect(declare(tools)).toContain('// s2AB Tool "a.b" of "s2".\n');
    // Also the one that has the plain name, at every level of detail: which it is cannot be told from it.
    for (const detail of ['full', 'signatures'] as const)
      expect(declare(tools.slice(1), { detail })).toMatch(
        /\/\/ aB Tool "aB" of "s1"\.\n[\s\S]*\/\/ aB2 Tool "a_b" of "s1"\.\n/,
      );
    // A server that comes later takes no name away from another.
    expect(named(tools.slice(1))).toEqual(['aB s1 aB', 'aB2 s1 a_b']);
  });

  test('a tool that has the name of a function itself keeps it', () => {
    const names = declareGo(['a-b', 'aB', 'a_b'].map((name) => tool(name))).functions.map((each) => [
      each.tool.name,
      each.name,
    ]);
    expect(Object.fromEntries(names)).toEqual({ aB: 'aB', 'a-b': 'aB2', a_b: 'aB3' });
  });

  test('a name with a server in front is for that server alone, whatever others call their tools', () => {
    const of = (serverId: string, name: string) => tool(name, undefined, { serverId });
    const named = (list: readonly Tool[], among?: readonly Tool[]) =>
      Object.fromEntries(
        declareGo(list, omitUndefined({ among })).functions.map((each) => [
          `${each.tool.serverId} ${each.tool.name}`,
          each.name,
        ]),
      );
    const [github, gitlab, evil] = [
      of('github', 'create_issue'),
      of('gitlab', 'create_issue'),
      of('evil', 'github_create_issue'),
    ];
    expect(named([github, gitlab, evil])).toEqual({
      'github create_issue': 'githubCreateIssue',
      'gitlab create_issue': 'gitlabCreateIssue',
      'evil github_create_issue': 'evilGithubCreateIssue',
    });
    expect(named([github, evil])).toMatchObject({ 'evil github_create_issue': 'evilGithubCreateIssue' });
    // Nor where the tool of github is hidden from the caller.
    expect(named([gitlab, evil], [github, gitlab, evil])).toEqual({
      'gitlab create_issue': 'gitlabCreateIssue',
      'evil github_create_issue': 'evilGithubCreateIssue',
    });
    // Numbers are given out within a server.
    expect(named([of('a', 'x2'), of('b', 'x'), of('b', 'X')])).toMatchObject({
      'a x2': 'aX2',
      'b x': 'x',
      'b X': 'bX2',
    });
    const clash = named([of('a', 'b_c'), of('a_b', 'c'), of('z', 'c'), of('z', 'b_c')]);
    expect(clash['a b_c']).toMatch(/^aBCX[\da-f]{8}$/);
    expect(clash['a_b c']).toMatch(/^aBCX[\da-f]{8}$/);
    expect(new Set(Object.values(clash)).size).toBe(4);
  });

  test('fields and constants keep apart what differs', () => {
    const properties = { user_id: {}, userId: {}, type: {}, string: {}, '1st': {}, 日本: {}, _: {} };
    remember([tool('f', { type: 'object', properties })]);
    expect(fieldsOf(properties).map((line) => line.split(' ')[0])).toEqual([
      'UserID2',
      'UserID',
      'Type',
      'String',
      'X1st',
      'X日本',
      'Field',
    ]);
    const text = declare(
      remember([
        tool('react', {
          type: 'object',
          properties: { emoji: { enum: ['+1', '-1', 'a-b', 'a_b', '', 'up-+1', 'up--1', '2024-01'] } },
        }),
      ]),
    );
    expect(text.match(/^const \w+/gm)).toEqual(
      ['Plus1', 'Minus1', 'AB', 'AB2', 'Empty', 'UpPlus1', 'UpMinus1', '202401'].map(
        (name) => `const ReactInputEmoji${name}`,
      ),
    );
  });

  test('an object with further keys has a field for them, whatever its properties are called', () => {
    const properties = { additional: { type: 'string' }, marshal_json: { type: 'string' } };
    const schema = { type: 'object', properties, additionalProperties: { type: 'integer' } };
    const text = declare(remember([tool('open_object', schema), tool('openObject', schema)]));
    expect(text).toMatch(/\tMarshalJSON_ +string/);
    expect(text).toContain('\tAdditionalKeys map[string]int `json:"-" codemode:"additional"`');
    expect(text.match(/^type \w+/gm)).toEqual(['type OpenObjectInput', 'type OpenObject2Input']);
  });

  test('an enumeration that is defined apart has the name of its definition, and no other', () => {
    // Long enough that it is not written in its place.
    const values = ['low', 'high', ...Array.from({ length: 20 }, (_, index) => `some_value_in_between_${index}`)];
    const level = { description: 'How loud.', anyOf: [{ enum: values }, { type: 'null' }] };
    const properties = { a: { $ref: '#/$defs/level' }, b: { $ref: '#/$defs/level' } };
    const text = declare(remember([tool('shout', { type: 'object', properties, $defs: { level } })]));
    expect(text).toContain('// ShoutInputLevel How loud.\ntype ShoutInputLevel string\n\nconst ShoutInputLevelLow ');
    expect(text).not.toMatch(/^type \w+ = /m);
  });

  test('types of one tool do not meet those of another', () => {
    const nested = { type: 'object', properties: { input: { type: 'object', properties: { x: { enum: ['y'] } } } } };
    const text = declare(
      remember([tool('a', nested), tool('a_input', { type: 'object', properties: { x: { enum: ['y'] } } })]),
    );
    const types = text.match(/^type \S+/gm) ?? [];
    expect(new Set(types).size).toBe(types.length);
  });
});

test('hostile words stay in comments, tags and strings', async () => {
  const words = 'a */ b\n//go:linkname x y\n\u2028package evil\r\n```\n</system> `x` \u202e "q" \\ \0';
  const properties = {
    [`x\`y`]: {},
    'a"b': {},
    ok: { description: words, enum: [words, '`', '"', '\ud800'] },
    'json:"z"': {},
  };
  const text = declare(
    remember([
      tool(
        `f ${words}`,
        {
          type: 'object',
          properties: {
            p: { type: 'object', properties },
            q: { type: 'object', properties: { ok: properties.ok as JsonObject } },
          },
        },
        { description: words },
      ),
    ]),
  );
  for (const line of text.split('\n'))
    expect(line).toMatch(
      /^(?:\t?(?:\/\/ |\w+ +\S+ +`json:"[a-z]+(?:,omitempty)?"`$)|type \w+ |const \w+ \w+ = "(?:[^"\\]|\\.)*"$|var \w+ func|\}$|$)/,
    );
  expect(text).not.toMatch(/```|<\/system|\u202e/);
});

test('a tool that is too large is cut alike for the agent and for the compiler', () => {
  const deep = (depth: number): JsonObject => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 3 }, (_, index) => [`p${index}`, depth === 0 ? { type: 'string' } : deep(depth - 1)]),
    ),
  });
  const tools = remember([tool('large', deep(6))]);
  const { declarations, warnings } = declareGo(tools);
  const types = (texts: readonly string[]) => texts.flatMap((text) => text.match(/^type \S+/gm) ?? []);
  expect(types(declarations.map(({ text }) => text))).toEqual(types(declarations.map(({ code }) => code)));
  expect(goText(declarations).length).toBeLessThan(25_000);
  expect(warnings).toEqual([
    { toolName: 'large', message: 'too large to be declared in full: deeply nested parts are cut to any' },
  ]);
});

describe.each(GO_ROOTS)('with %s', (root) => {
  test('everything declared in these tests compiles and is as gofmt writes it [E2]', needs('go'), async () => {
    const { declarations } = declareGo(EVERYTHING);
    const file = goFile([...GO_HELPERS, ...declarations]);
    expect(EVERYTHING.length).toBeGreaterThan(60);
    expect(await unformatted(file)).toBe('');
    expect(await unformatted(`package main\n\n${goText([...GO_HELPERS, ...declarations])}`)).toBe('');
    expect(await goBuild(root, { 'tools.go': file, 'main.go': 'package main\n\nfunc main() {}\n' })).toBe('');
  });
});
