import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';
import { AS_SHIPPED } from '../../support/program.js';

const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const text = { type: 'string' };
const whole = { type: 'integer' };

const READ = {
  name: 'read-text-file',
  description: 'Reads a file.',
  inputSchema: object({ head: { type: 'number' }, path: text }, ['path']),
  outputSchema: object({ content: text }, ['content']),
};
const LOG = {
  name: 'git_log',
  description: `Shows the commit logs. Newest first, e.g. of main. ${'It tells a long story about itself. '.repeat(140)}`,
  inputSchema: object(
    {
      author: { anyOf: [text, { type: 'null' }], default: null },
      max_count: { type: 'integer', default: 10 },
      per_page: { type: 'number', description: 'Results per page (default: 30).' },
      branch: { type: 'string', default: 'main' },
      order: { enum: ['date', 'topo'] },
      filter: object({ paths: { type: 'array', items: text }, range: object({ from: text, to: text }) }),
      repo_path: text,
    },
    ['repo_path'],
  ),
};
const REMOVE = {
  name: 'remove_all',
  description: 'Removes everything.',
  inputSchema: { type: 'object', properties: {} },
  annotations: { destructiveHint: true },
};
const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`some_property_number_${at}`, text]));
const WIDE = {
  name: 'wide',
  inputSchema: object({ ...many, limit: { ...whole, default: 25 }, must: text }, ['must']),
  outputSchema: object({ rows: { type: 'array', items: object(many) }, nextCursor: text }, ['rows']),
};
const HOSTILE = {
  name: 'hostile',
  description: 'Odd.',
  inputSchema: {
    type: 'object',
    properties: {
      'a"b\u202e*/': text,
      ['x'.repeat(5_000)]: text,
      tree: { $ref: '#/$defs/tree' },
      kind: { enum: ['```', '</system>', ...Array.from({ length: 500 }, (_, at) => `value ${at}`)] },
    },
    $defs: { tree: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/tree' }, { $ref: '#/$defs/tree' }] } } },
  },
};

let codemode: CodemodeClient;
beforeAll(async () => {
  const tools = [READ, LOG, REMOVE, WIDE, HOSTILE];
  const crowd = Array.from({ length: 60 }, (_, at) => ({ ...LOG, name: `log_${at}` }));
  codemode = await startCodemode({
    scripts: {
      files: { tools, replies: { git_log: { content: [], structuredContent: { commits: [{ sha: 'a' }] } } } },
      crowd: { tools: crowd },
    },
    config: AS_SHIPPED,
  });
});
afterAll(() => codemode[Symbol.asyncDispose]());

interface Found {
  readonly toolName: string;
  readonly signature?: string;
  readonly description?: string;
  readonly asks?: true;
}

const ask = <T>(expression: string) =>
  codemode.value(
    `import * as d from '@codemode/discovery'; globalThis.__codemode_result__ = await (${expression});`,
  ) as Promise<T>;
const listed = async (detail: string) =>
  new Map(
    (
      await ask<Found[]>(
        `d.listTools('files', { detail: '${detail}' }).then((all) => all.map(({ inputSchema, outputSchema, ...rest }) => rest))`,
      )
    ).map((tool) => [tool.toolName, tool]),
  );

describe('the signature of a tool', () => {
  test.each(['description', 'full'])('is in listTools at detail %s, and says arguments and result', async (detail) => {
    const tools = await listed(detail);
    expect(tools.get('read-text-file')?.signature).toBe(
      'read_text_file({ path: string, head?: number }): { content: string }',
    );
    expect(tools.get('remove_all')?.signature).toBe('remove_all() @asks');
  });

  test('is not in listTools at detail name, which has two fields [A16]', async () => {
    expect((await listed('name')).get('read-text-file')).toEqual({
      toolName: 'read-text-file',
      exportName: 'read_text_file',
    });
  });

  test('is in searchTools and getTool too', async () => {
    const { results } = await ask<{ results: Found[] }>(`d.searchTools('read a text file', { limit: 1 })`);
    expect(results[0]?.signature).toMatch(/^read_text_file\(/);
    expect((await ask<Found>(`d.getTool('files', 'read_text_file')`)).signature).toMatch(/^read_text_file\(/);
  });

  test('shows required arguments first, then paging with its defaults', async () => {
    expect((await listed('description')).get('git_log')?.signature).toBe(
      'git_log({ repo_path: string, max_count = 10, per_page = 30, author?: string, branch = "main", order?: "date" | "topo", filter?: { paths?: string[], range?: { from?: string, to?: string } } })',
    );
  });

  test('is bounded, and keeps what must be given and how much comes', async () => {
    const signature = (await listed('description')).get('wide')?.signature ?? '';
    expect(signature).toMatch(
      /^wide\(\{ must: string, limit = 25, some_property_number_0\?: string, .*… \}\): \{ rows: object\[\], nextCursor\?: string \}$/,
    );
    expect(signature.length).toBeLessThan(450);
  });

  test('of a hostile schema is one short line that closes nothing around it', async () => {
    const signature = (await listed('description')).get('hostile')?.signature ?? '';
    expect(signature.length).toBeLessThan(450);
    expect(signature).not.toMatch(/[\n\u202e]|```|<\/system>|xxxxxxxx/);
    expect(signature).toContain('"a\\"b\\u202e*/"?: string');
  });

  test('says what earlier calls returned, where the server declares nothing', async () => {
    await codemode.value(`import { git_log } from '@codemode/servers/files';
      globalThis.__codemode_result__ = await git_log({ repo_path: '.' });`);
    const { signature } = await ask<Found>(`d.getTool('files', 'git_log')`);
    expect(signature).toMatch(/\): \{ commits: \{ sha: string \}\[\] \} \/\* observed \*\/$/);
  });

  test('lets a whole server of 60 tools be read at once', async () => {
    const signatures = await ask<string[]>(`(await d.listTools('crowd')).map(({ signature }) => signature)`);
    expect(signatures.filter((each) => each?.startsWith('log_'))).toHaveLength(60);
    expect(countTokens(signatures.join('\n'))).toBeLessThan(5_000);
  });
});

describe('the description of a tool', () => {
  test('is its first sentences below full, and whole at full', async () => {
    const short = (await listed('description')).get('git_log')?.description ?? '';
    expect(short).toMatch(/^Shows the commit logs\. Newest first, e\.g\. of main\. .*itself\.$/);
    expect(short.length).toBeLessThanOrEqual(200);
    expect((await listed('full')).get('git_log')?.description).toBe(LOG.description);
    expect((await ask<Found>(`d.getTool('files', 'git_log')`)).description).toBe(LOG.description);
  });
});

test('code_execution: a wrong tool of a large server is answered with similar ones and their use', async () => {
  const tool = (name: string, description: string, property: string) => ({
    name,
    description,
    inputSchema: { type: 'object', properties: { [property]: { type: 'number' } } },
  });
  const others = Array.from({ length: 25 }, (_, index) => tool(`other_${index}`, 'Something else.', 'a'));
  const tools = [...others, tool('tracker_getIssues', 'Lists issues.', 'limit')];
  await using codemode = await startCodemode({
    scripts: { tracker: { tools } },
    commandLine: ['--profile', 'code_execution'],
  });
  const { structuredContent } = await codemode.client.callTool({
    name: 'code_execution',
    arguments: { code: "call_tool('tracker', 'list_open_issues', {}).error" },
  });
  expect(structuredContent).toMatchObject({
    ok: true,
    value: {
      code: 'TOOL_NOT_FOUND',
      message:
        'tracker has no tool "list_open_issues". Of its 26 tools these fit the words: tracker_getIssues({ limit?: number }).',
    },
  });
});
