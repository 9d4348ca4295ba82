import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';
import { LedgerHome } from '../../support/ledger.js';
import { nodeServer } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

/** A program that takes a part for the whole is told so; one that went on is left alone. */

let codemode: CodemodeClient;

beforeAll(async () => {
  codemode = await startCodemode({ servers: { excel: nodeServer(fixture('paging-server.mjs')) } });
});
afterAll(() => codemode[Symbol.asyncDispose]());

async function warnings(body: string) {
  const { diagnostics } = await codemode.run(`import * as excel from '@codemode/servers/excel'; ${body};`);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return diagnostics.filter(({ code }) => code === 'PARTIAL_RESULT');
}

describe('a part that is taken for the whole', () => {
  test.each([
    [
      'a next_range',
      'await excel.read_range({ file: "a.xlsx" })',
      'excel/read_range gave a next_range, and the program did not ask for the rest',
      'Pass it as `range` to get the rest, until there is none, or say that the result is a part.',
    ],
    [
      'a next_range in JSON text',
      'await excel.read_range_text()',
      'excel/read_range_text gave a next_range, and the program did not ask for the rest',
      'Pass it as `range` to get the rest, until there is none, or say that the result is a part.',
    ],
    [
      'a cursor inside `pagination`',
      'await excel.list_issues()',
      'excel/list_issues gave a pagination.next_cursor, and the program did not ask for the rest',
      'Pass it as `cursor` to get the rest, until there is none, or say that the result is a part.',
    ],
    [
      'hasMore',
      'await excel.list_rows()',
      'excel/list_rows said hasMore: true, and the program did not ask for the rest',
      'Call it again with another `offset`, or say that the result is a part.',
    ],
    [
      'truncated',
      'await excel.query({ sql: "SELECT * FROM orders" })',
      'excel/query said truncated: true, and the program did not ask for the rest',
      'Ask for the next part, or say that the result is a part.',
    ],
    [
      'words in its text',
      'await excel.log()',
      'excel/log said "first 10 of 88", and the program did not ask for the rest',
      'Call it again with another `max_count`, or say that the result is a part.',
    ],
    [
      'as many rows as a page has',
      'await excel.list_commits()',
      'excel/list_commits gave 30 rows, a full page: there may be more, and the program did not ask for it',
      'Call it again with another `page`, or say that the result is a part.',
    ],
    [
      'the largest page',
      'await excel.list_commits({ perPage: 60 })',
      'excel/list_commits gave 60 rows, a full page: there may be more, and the program did not ask for it',
      'Call it again with another `page`, or say that the result is a part.',
    ],
    [
      'as many rows as come by default',
      'await excel.find()',
      'excel/find gave 10 rows, a full page: there may be more, and the program did not ask for it',
      'Call it again with another `limit`, or say that the result is a part.',
    ],
    [
      'fewer rows than are counted',
      'await excel.counted()',
      'excel/counted said total_count: 137, and the program did not ask for the rest',
      'Call it again with another `offset`, or say that the result is a part.',
    ],
  ])('gets one warning that names call, field, argument and line: %s', async (_, body, message, hint) => {
    const path = expect.stringMatching(/^main\.ts:1:\d+$/);
    expect(await warnings(body)).toEqual([{ severity: 'warning', code: 'PARTIAL_RESULT', message, hint, path }]);
  });

  test('is counted where the same tool gave several', async () => {
    const found = await warnings(
      `for (const file of ['a', 'b', 'c']) await excel.read_range({ file: file + '.xlsx' })`,
    );
    expect(found.map(({ message }) => message)).toEqual([
      'excel/read_range gave a next_range in 3 answers, and the program did not ask for the rest',
    ]);
  });

  test('is named where a cursor is followed, and not to the end', async () => {
    const found = await warnings(
      `const { pagination } = await excel.list_issues(); await excel.list_issues({ cursor: pagination.next_cursor })`,
    );
    expect(found.map(({ message }) => message)).toEqual([
      'excel/list_issues gave a pagination.next_cursor, and the program did not ask for the rest',
    ]);
  });

  test('is named for three tools at most', async () => {
    const found = await warnings(
      'await Promise.all([excel.read_range(), excel.read_range_text(), excel.list_issues(), excel.list_rows(), excel.log()])',
    );
    expect(found).toHaveLength(3);
    expect(found.at(-1)?.message).toMatch(/; so did 2 more tools$/);
  });
});

describe('no warning is given', () => {
  test.each([
    [
      'where the program passes what it was given',
      `const first = await excel.read_range({ file: 'a' }); await excel.read_range({ file: 'a', range: first.next_range })`,
    ],
    [
      'where it follows a cursor to the end',
      'let cursor = "page-0"; while (cursor) cursor = (await excel.list_issues({ cursor })).pagination.next_cursor',
    ],
    [
      'where pages are read at the same time',
      'await Promise.all([0, 100, 200].map((offset) => excel.list_rows({ offset })))',
    ],
    [
      'where SQL has the pages inside',
      `for (const at of [0, 100]) await excel.query({ sql: 'SELECT * FROM orders LIMIT 100 OFFSET ' + at })`,
    ],
    ['where the tool is called again for more of it', 'await excel.log(); await excel.log({ max_count: 88 })'],
    [
      'where pages are read until one is short',
      'for (let page = 1; JSON.parse(await excel.list_commits({ page })).length === 30; page++);',
    ],
    ['where few rows were asked for', 'await excel.list_commits({ perPage: 5 }); await excel.find({ limit: 5 })'],
    [
      'where few rows were asked for and the server says that it has more',
      'await excel.list_rows({ limit: 5 }); await excel.log({ max_count: 5 })',
    ],
    ['where all rows are there that are counted', 'await excel.counted({ all: 3 })'],
    ['for a round number of rows of a tool without pages', 'await excel.columns()'],
    ['for the last page', 'await excel.last_page()'],
    ['for a cursor beside hasMore: false', 'await excel.echoing()'],
    ['for such words in the middle of a text', 'await excel.prose()'],
  ])('%s', async (_, body) => {
    expect(await warnings(body)).toEqual([]);
  });
});

test('a part is remembered while the run is suspended', async () => {
  using home = new LedgerHome({ mcpServers: { excel: nodeServer(fixture('paging-server.mjs')) } });
  const { runId = '' } = await home.program(`import { list_issues } from '@codemode/servers/excel';
import { write } from '@codemode/servers/ledger';
const page = await list_issues();
await write({ text: 'seen' });
globalThis.__codemode_result__ = page.issues.length;`);
  const [approval] = await home.pending();
  await home.decide('approve', approval?.id ?? '');
  const { response } = await home.resume(runId);
  expect(response?.diagnostics).toContainEqual(
    expect.objectContaining({ code: 'PARTIAL_RESULT', path: expect.stringMatching(/^main\.ts:3:\d+$/) }),
  );
});
