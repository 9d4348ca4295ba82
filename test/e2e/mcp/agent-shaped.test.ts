import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, encode } from 'gpt-tokenizer/encoding/o200k_base';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AS_SHIPPED, type Home, nodeServer, openHome, openStdio, packageServer, ready } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

/*
 * What an agent reads of ten tasks, by a client that cuts as real ones do: descriptions and instructions at 2,048 characters,
 * answers at 25,000 tokens. The servers are real processes over real files. Token counts are pins with some slack: a change
 * that makes an answer larger has to raise its pin, and somebody sees it.
 */

const MOST_TEXT_CHARACTERS = 2_048;
const MOST_ANSWER_TOKENS = 25_000;

let home: Home;
let program: Awaited<ReturnType<typeof openStdio>>;
let spent = 0;

beforeAll(async () => {
  home = openHome({ ...AS_SHIPPED });
  const data = join(home.work, 'data');
  mkdirSync(data);
  writeData(data);
  writeFileSync(
    home.configFile,
    JSON.stringify({
      sandbox: { workers: { min: 1 } },
      mcpServers: {
        files: packageServer('server-filesystem', data),
        memory: { ...packageServer('server-memory'), env: { MEMORY_FILE_PATH: join(home.work, 'memory.jsonl') } },
        everything: packageServer('server-everything', 'stdio'),
        sqlite: nodeServer(fixture('sqlite-server.mjs'), join(data, 'shop.db')),
        git: nodeServer(fixture('git-server.mjs'), data),
      },
    }),
  );
  program = await openStdio(home);
  await ready(program.client, 'files', 'memory', 'everything', 'sqlite', 'git');
}, 60_000);
afterAll(async () => {
  await program?.[Symbol.asyncDispose]();
  home?.[Symbol.dispose]();
});

function writeData(folder: string): void {
  const rows = Array.from(
    { length: 240 },
    (_, id) => `${id},${['Berlin', 'Oslo', 'Porto'][id % 3]},${(id * 17) % 500}`,
  );
  writeFileSync(join(folder, 'orders.csv'), `id,city,total\n${rows.join('\n')}\n`);
  for (const name of ['a.md', 'b.md', 'notes.txt']) writeFileSync(join(folder, name), `${name}\n`);
  const database = new Database(join(folder, 'shop.db'));
  database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT, total INTEGER, note TEXT)');
  database.exec(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO orders SELECT i, CASE i % 3 WHEN 0 THEN 'Oslo' ELSE 'Berlin' END, i * 7 % 900, 'order ' || i FROM n",
  );
  database.close();
  const git = (...words: string[]) => execFileSync('git', ['-C', folder, ...words], { stdio: 'ignore' });
  git('init', '-b', 'main');
  for (let at = 0; at < 12; at++) {
    const author = at % 3 === 0 ? 'Ada' : 'Ben';
    const identity = [
      '-c',
      `user.name=${author}`,
      '-c',
      `user.email=${author}@example.com`,
      '-c',
      'commit.gpgsign=false',
    ];
    git(...identity, 'commit', '--allow-empty', '-m', `change ${at}`);
  }
}

/** What a model has before its first program. */
async function prompt(): Promise<string> {
  const { tools } = await program.client.listTools();
  const listed = tools.map(({ name, description = '', inputSchema }) => {
    return JSON.stringify({ name, description: description.slice(0, MOST_TEXT_CHARACTERS), inputSchema });
  });
  return `${(program.client.getInstructions() ?? '').slice(0, MOST_TEXT_CHARACTERS)}\n${listed.join('\n')}`;
}

/** What the model reads of one answer, and what it means. */
async function read(code: string) {
  const answered = await program.client.callTool({ name: 'codemode_run', arguments: { code } });
  const whole = encode(JSON.stringify(answered.structuredContent));
  const tokens = Math.min(whole.length, MOST_ANSWER_TOKENS);
  spent += tokens;
  return { tokens, ...(JSON.parse(decode(whole.slice(0, MOST_ANSWER_TOKENS))) as Answer) };
}

interface Answer {
  readonly result: unknown;
  readonly logs: readonly { message: string }[];
  readonly diagnostics: readonly { code: string; message: string; hint?: string; path?: string }[];
}

const codesOf = ({ diagnostics }: Answer) =>
  diagnostics.map(({ code }) => code).filter((code) => code !== 'SERVER_TYPES');

test('what is read before the first program has the rules and every server, in 1,300 tokens', async () => {
  const text = await prompt();
  const tokens = encode(text).length;
  spent += tokens;
  for (const word of ['__codemode_result__', '@asks', 'searchTools', 'load', '@codemode/errors', '@codemode/text'])
    expect(text).toContain(word);
  for (const server of ['files', 'memory', 'everything', 'sqlite', 'git'])
    expect(text).toMatch(new RegExp(`- ${server} \\(\\d+\\)`));
  expect(tokens).toBeLessThanOrEqual(1_300);
});

describe('a task of an agent', () => {
  let handle = '';
  const tasks: readonly (readonly [what: string, code: () => string, most: number, check: (answer: Answer) => void])[] =
    [
      [
        'looks a server over before it is used',
        () => `import { listTools } from '@codemode/discovery';
globalThis.__codemode_result__ = (await listTools('files')).map(({ signature }) => signature);`,
        900,
        ({ result }) => expect(result).toContainEqual(expect.stringMatching(/^read_text_file\(\{ path: string/)),
      ],
      [
        'finds tools by what it wants to do',
        () => `import { searchTools } from '@codemode/discovery';
const { results } = await searchTools('commits of a repository by author; rows of a database table', { limit: 4 });
globalThis.__codemode_result__ = results.map(({ serverId, signature }) => [serverId, signature]);`,
        350,
        ({ result }) => {
          const servers = (result as string[][]).map(([server]) => server);
          expect(servers).toEqual(expect.arrayContaining(['git', 'sqlite']));
        },
      ],
      [
        'counts the rows of a file by city',
        () => `import { read_text_file } from '@codemode/servers/files';
import { parse } from '@codemode/text';
const { content } = await read_text_file({ path: ${JSON.stringify(join(home.work, 'data', 'orders.csv'))} });
const totals = {};
for (const { city, total } of parse(content)) totals[city] = (totals[city] ?? 0) + Number(total);
globalThis.__codemode_result__ = totals;`,
        260,
        ({ result }) => expect(Object.keys(result as object).sort()).toEqual(['Berlin', 'Oslo', 'Porto']),
      ],
      [
        'asks a database and reads what Python printed',
        () => `import * as sqlite from '@codemode/servers/sqlite';
import { parse } from '@codemode/text';
const tables = parse(await sqlite.list_tables());
const columns = parse(await sqlite.describe_table({ table_name: tables[0].name }));
const rows = parse(await sqlite.read_query({ query: 'SELECT city, count(*) AS orders FROM orders GROUP BY city' }));
globalThis.__codemode_result__ = { columns: columns.map(({ name }) => name), rows };`,
        330,
        ({ result }) =>
          expect(result).toEqual({
            columns: ['id', 'city', 'total', 'note'],
            rows: [
              { city: 'Berlin', orders: 1334 },
              { city: 'Oslo', orders: 666 },
            ],
          }),
      ],
      [
        'takes ten commits for all of them, and is told so',
        () => `import { git_log } from '@codemode/servers/git';
const text = await git_log({ repo_path: '.' });
globalThis.__codemode_result__ = text.split('Author: ').length - 1;`,
        260,
        (answer) => {
          expect(answer.result).toBe(10);
          expect(answer.diagnostics).toContainEqual(
            expect.objectContaining({ code: 'PARTIAL_RESULT', path: expect.stringMatching(/^main\.ts:2:/) }),
          );
        },
      ],
      [
        'asks for all of them then',
        () => `import { git_log } from '@codemode/servers/git';
const text = await git_log({ repo_path: '.', max_count: 1000 });
const authors = [...text.matchAll(/^Author: (.*)$/gm)].map(([, name]) => name);
globalThis.__codemode_result__ = { Ada: authors.filter((name) => name === 'Ada').length, all: authors.length };`,
        80,
        (answer) => {
          expect(answer.result).toEqual({ Ada: 4, all: 12 });
          expect(codesOf(answer)).toEqual([]);
        },
      ],
      [
        'misspells an argument, and is told which',
        () => `import * as sqlite from '@codemode/servers/sqlite';
globalThis.__codemode_result__ = await sqlite.read_query({ sql: 'SELECT 1' });`,
        330,
        ({ diagnostics }) => expect(diagnostics[0]).toMatchObject({ hint: expect.stringContaining('"query"') }),
      ],
      [
        'returns a whole table, and gets its beginning and a handle',
        () => `import { read_query } from '@codemode/servers/sqlite';
import { parse } from '@codemode/text';
globalThis.__codemode_result__ = parse(await read_query({ query: 'SELECT * FROM orders' }));`,
        1_700,
        (answer) => {
          expect(codesOf(answer)).toContain('RESULT_TOO_LARGE');
          handle = /load\("([^"]+)"\)/.exec(JSON.stringify(answer.diagnostics).replaceAll('\\"', '"'))?.[1] ?? '';
        },
      ],
      [
        'loads the part of it that it needs',
        () => `import { load } from '@codemode/results';
const rows = await load(${JSON.stringify(handle)}, { from: 1990, to: 2000 });
globalThis.__codemode_result__ = rows.map(({ id }) => id);`,
        80,
        ({ result }) => expect(result).toEqual([1991, 1992, 1993, 1994, 1995, 1996, 1997, 1998, 1999, 2000]),
      ],
      [
        'joins two servers',
        () => `import * as files from '@codemode/servers/files';
import * as everything from '@codemode/servers/everything';
const [list, weather] = await Promise.all([
  files.list_directory({ path: ${JSON.stringify(join(home.work, 'data'))} }),
  everything['get-structured-content']?.({ location: 'Chicago' }) ?? everything.get_structured_content({ location: 'Chicago' }),
]);
globalThis.__codemode_result__ = { markdown: JSON.stringify(list).split('.md').length - 1, temperature: weather.temperature };`,
        420,
        ({ result }) => expect(result).toMatchObject({ temperature: 36 }),
      ],
    ];

  test.each(tasks)('%s', async (_, code, most, check) => {
    const answer = await read(code());
    check(answer);
    expect(answer.tokens, JSON.stringify(answer)).toBeLessThanOrEqual(most);
  });

  test('of them all cost what is asked for one, 5,000 tokens', () => {
    expect(spent).toBeLessThanOrEqual(5_000);
  });
});
