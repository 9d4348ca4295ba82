import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';

/** `parse` of `@codemode/text`, on what servers really write; in profiles without modules it is a global. */

const replies = {
  json: '{"rows": [{"id": 1}]}',
  json_lines: '{"id": 1}\n{"id": 2}\n',
  literal: `[{'id': 1, 'name': "O'Hara", 'at': datetime.datetime(2026, 1, 5, 9, 30), 'price': Decimal('12.50'), 'gone': None}]`,
  csv: 'id,name\n1,"Smith, J"\n',
  markdown: '2 issues:\n\n| id | title |\n|---|---|\n| 1 | Crash |\n| 2 | Leak |\n',
  words: 'All is well.',
  cut: `[{'id': 1}, {'id'`,
  deep: '['.repeat(100_000),
};

const notes = {
  tools: [...Object.keys(replies), 'blocks', 'alike', 'broken'].map((name) => ({
    name,
    inputSchema: { type: 'object' },
  })),
  replies: {
    ...Object.fromEntries(Object.entries(replies).map(([name, text]) => [name, { content: [{ type: 'text', text }] }])),
    blocks: {
      content: ['Rows:', replies.csv, replies.literal].map((text) => ({ type: 'text', text })),
    },
    // Looks like what call_tool returns, and is a tool's own data.
    alike: { structuredContent: { ok: true, result: 'id\n1' }, content: [] },
    broken: { content: [{ type: 'text', text: 'the table is locked' }], isError: true },
  },
};

const LITERAL = [{ id: 1, name: "O'Hara", at: '2026-01-05T09:30:00', price: '12.50', gone: null }];
const BLOCKS = ['Rows:', [{ id: '1', name: 'Smith, J' }], LITERAL];

const HEAD = `import { parse } from '@codemode/text'; import * as notes from '@codemode/servers/notes';`;

describe('@codemode/text', () => {
  let codemode: CodemodeClient;
  beforeAll(async () => {
    codemode = await startCodemode({ scripts: { notes } });
  });
  afterAll(() => codemode[Symbol.asyncDispose]());

  test.each([
    ['json', { rows: [{ id: 1 }] }],
    ['json_lines', [{ id: 1 }, { id: 2 }]],
    ['literal', LITERAL],
    ['blocks', BLOCKS],
    ['csv', [{ id: '1', name: 'Smith, J' }]],
    [
      'markdown',
      [
        { id: '1', title: 'Crash' },
        { id: '2', title: 'Leak' },
      ],
    ],
  ])('reads the text of a tool: %s', async (tool, value) => {
    expect(await codemode.value(`${HEAD} globalThis.__codemode_result__ = parse(await notes.${tool}());`)).toEqual(
      value,
    );
  });

  test('throws if the text is not data, with the position in the text and in the program', async () => {
    const { diagnostics } = await codemode.run(`${HEAD}\nconst rows = parse(await notes.words());`);
    expect(diagnostics[0]).toMatchObject({
      severity: 'error',
      code: 'UNCAUGHT_EXCEPTION',
      errorClass: 'CodemodeError',
      message: expect.stringContaining('cannot read the text at line 1, column 1: this is neither JSON'),
      hint: 'It is plain text: use string methods.',
      path: expect.stringMatching(/^main\.ts:2:/),
    });
  });

  test('is caught with the class of @codemode/errors, and says that an answer was cut', async () => {
    const code = `${HEAD} import { CodemodeError } from '@codemode/errors';
      const caught = async (tool) => { try { parse(await tool()) } catch (error) { return [error instanceof CodemodeError, error.line, error.column, error.hint] } };
      globalThis.__codemode_result__ = [await caught(notes.cut), await caught(notes.deep)];`;
    expect(await codemode.value(code)).toEqual([
      [true, 1, 18, expect.stringContaining('cut its answer')],
      [true, 1, 201, expect.stringContaining('string methods')],
    ]);
  });

  test('has one export, names it where another one is imported, and cannot be taken by a server', async () => {
    const { diagnostics } = await codemode.run(`import { pars } from '@codemode/text';`);
    expect(diagnostics[0]).toMatchObject({ severity: 'error', hint: expect.stringContaining('`parse`') });
    const all = `import * as text from '@codemode/text'; globalThis.__codemode_result__ = Object.keys(text);`;
    expect(await codemode.value(all)).toEqual(['parse']);
    const mistyped = await codemode.run(`import { parse } from '@codemode/texts';`);
    expect(mistyped.diagnostics[0]).toMatchObject({ hint: expect.stringContaining(`'@codemode/text'`) });
  });

  test('is mentioned in the prompt, in one line', () => {
    const lines = codemode.client.getInstructions()?.split('\n') ?? [];
    expect(lines.filter((line) => line.includes('@codemode/text'))).toEqual([
      expect.stringContaining('function parse(text: unknown): any'),
    ]);
  });
});

const MANY_CALLS = { mcp: { allowedServers: ['notes'], maxCallsPerSecond: 100 } };

/** The answer of another profile's tool to a program. */
async function startIn<Answer>(profile: string, tool: string) {
  const codemode = await startCodemode({
    scripts: { notes },
    config: { profile, security: { capabilities: { mcp: { maxCallsPerSecond: 100 } } } },
  });
  const call = async (code: string) => {
    const sent = { code, ...(profile === 'unified' ? { capabilities: MANY_CALLS } : {}) };
    return (await codemode.client.callTool({ name: tool, arguments: sent })).structuredContent as Answer;
  };
  const description = (await codemode.client.listTools()).tools[0]?.description ?? '';
  return { call, description, [Symbol.asyncDispose]: () => codemode[Symbol.asyncDispose]() };
}

test('parse is a global of unified, and its description says so', async () => {
  await using unified = await startIn<{ result?: unknown; error?: unknown }>('unified', 'execute_code');
  const { call, description } = unified;
  expect(description).toContain('`parse(text)` reads CSV, JSON lines, tables and Python literals');
  const names = ['json', 'json_lines', 'literal', 'csv', 'markdown', 'blocks', 'alike'];
  const all = `const found = {}; for (const name of ${JSON.stringify(names)}) found[name] = parse(await mcp.notes[name]()); return found;`;
  expect((await call(all)).result).toEqual({
    json: { rows: [{ id: 1 }] },
    json_lines: [{ id: 1 }, { id: 2 }],
    literal: LITERAL,
    csv: [{ id: '1', name: 'Smith, J' }],
    markdown: [
      { id: '1', title: 'Crash' },
      { id: '2', title: 'Leak' },
    ],
    blocks: BLOCKS,
    alike: { ok: true, result: 'id\n1' },
  });
  expect((await call('return parse(await mcp.notes.words())')).error).toMatchObject({
    code: 'RUNTIME_ERROR',
    message: expect.stringContaining('cannot read the text at line 1, column 1: this is neither JSON'),
    details: { hint: 'It is plain text: use string methods.', position: { line: 1 } },
  });
  expect((await call('return (await mcp.notes.literal()).map(({ id }) => id)')).error).toMatchObject({
    details: { hint: 'notes/literal returns Python literal: parse(text) gives its data' },
  });
  // A body's own name of it is its own.
  expect((await call('const parse = () => 1; return parse();')).result).toBe(1);
});

test('parse of code_execution gives the data of any answer, and throws where the call failed', async () => {
  type Answer = { value?: unknown; error?: { code: string; message: string }; notes?: string[] };
  await using script = await startIn<Answer>('code_execution', 'code_execution');
  const { call, description } = script;
  expect(description).toContain('`parse(res)` is the data of any answer');
  const names = ['json', 'json_lines', 'literal', 'csv', 'markdown', 'blocks', 'alike'];
  const all = `const found = {}; for (const name of ${JSON.stringify(names)}) found[name] = parse(call_tool('notes', name, {})); found`;
  expect((await call(all)).value).toEqual({
    json: { rows: [{ id: 1 }] },
    json_lines: [{ id: 1 }, { id: 2 }],
    literal: LITERAL,
    csv: [{ id: '1', name: 'Smith, J' }],
    markdown: [
      { id: '1', title: 'Crash' },
      { id: '2', title: 'Leak' },
    ],
    blocks: BLOCKS,
    alike: { ok: true, result: 'id\n1' },
  });
  const inner = `parse(call_tool('notes', 'csv', {}).result)[0].name + parse('[1]').length`;
  expect((await call(inner)).value).toBe('Smith, J1');
  expect((await call(`parse(call_tool('notes', 'broken', {}))`)).error).toMatchObject({
    code: 'RUNTIME_ERROR',
    message: 'CodemodeError: the table is locked',
  });
  expect((await call(`call_tool('notes', 'literal', {}).result.map((row) => row.id)`)).notes).toContain(
    'notes/literal returns Python literal: parse(res) gives its data, where res is what call_tool returned',
  );
  // A script's own name of it is its own.
  expect((await call('function parse() { return 1 } parse()')).value).toBe(1);
  expect((await call('const parse = 2; parse')).value).toBe(2);
});
