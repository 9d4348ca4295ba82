import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';

/** `parse` of `@codemode/text`, on what servers really write. */

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
  tools: Object.keys(replies).map((name) => ({ name, inputSchema: { type: 'object' } })),
  replies: Object.fromEntries(
    Object.entries(replies).map(([name, text]) => [name, { content: [{ type: 'text', text }] }]),
  ),
};

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
    ['literal', [{ id: 1, name: "O'Hara", at: '2026-01-05T09:30:00', price: '12.50', gone: null }]],
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

  test('throws where the text is no data, with the place in the text and in the program', async () => {
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

  test('stands in what the agent is told, in one line', () => {
    const lines = codemode.client.getInstructions()?.split('\n') ?? [];
    expect(lines.filter((line) => line.includes('@codemode/text'))).toEqual([
      expect.stringContaining('function parse(text: unknown): any'),
    ]);
  });
});
