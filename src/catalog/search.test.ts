import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../domain/json.js';
import { createSearchIndex, type SearchDocument, type SearchOptions } from './search.js';

const documents: SearchDocument[] = [
  tool('github', 'create_pull_request', 'Create a new pull request in a GitHub repository'),
  tool('github', 'list_pull_requests', 'List pull requests in a GitHub repository'),
  tool('github', 'list_issues', 'List issues in a GitHub repository'),
  tool('github', 'list_issue_types', 'List the types an issue may have'),
  tool('github', 'delete_repository', 'Delete a repository for good'),
  tool('files', 'list_directory', 'List what a directory holds. Not for files.'),
  tool('files', 'write_file', 'Write text to a file, replacing what it holds'),
  tool('files', 'read_file', 'Read the text of a file'),
  tool('files', 'moveFile', 'Gives a file another name or place'),
  tool('slack', 'post_message', 'Post a message to a channel', { channel: { type: 'string' } }),
  tool('slack', 'channel_history', 'Read the messages of a channel'),
  tool('charts', 'generate_flow_chart', 'Draw a diagram of steps'),
  tool('charts', 'generate_chart', 'Draw numbers', { kind: { type: 'string', enum: ['pie', 'histogram', 'radar'] } }),
  tool('clock', 'get_current_time', 'Tells the time and date'),
  tool('trends', 'get-weibo-trending', '获取微博热搜榜，包含时事热点、社会现象、娱乐新闻'),
  { ...tool('acme', 'run', 'Starts a job'), serverName: 'Acme', serverDescription: 'Weather forecasts for farmers' },
];
const index = createSearchIndex(documents);

test("a camel-case name after its server's name is matched in full, as plain words are", () => {
  const trackers = createSearchIndex([
    tool('github', 'create_issue', 'Create a new issue in a repository', { title: { type: 'string' } }),
    tool('github', 'issue_write', 'Create or update an issue', { title: { type: 'string' } }),
    ...['getTeams', 'createTeam', 'getLabels', 'updateIssue'].map((name) =>
      tool('linear', `linear_${name}`, 'Something of Linear'),
    ),
    tool('linear', 'linear_createIssueTemplate', 'Create a new issue template', { teamId: { type: 'string' } }),
    tool('linear', 'linear_createIssue', 'Create a new issue in Linear', {
      ...Object.fromEntries(
        ['title', 'description', 'assigneeId', 'priority', 'dueDate'].map((key) => [key, { type: 'string' }]),
      ),
      teamId: { type: 'string', description: 'ID of the team the issue belongs to' },
    }),
  ]);
  expect(trackers.search('create an issue in a team').map(({ tool: { name } }) => name)[0]).toBe('linear_createIssue');
});

describe('a tool is found', () => {
  test.each([
    ['by the parts of its snake_case name', 'pull request create', 'github/create_pull_request'],
    ['by the parts of its camelCase name', 'move a file', 'files/moveFile'],
    ['by its name as written', 'moveFile', 'files/moveFile'],
    ['by a verb of the same meaning', 'erase the repository', 'github/delete_repository'],
    ['by a noun of the same meaning', 'what is in my folder', 'files/list_directory'],
    ['by an abbreviation', 'open a new PR', 'github/create_pull_request'],
    ['by another form of a word', 'deleting repositories', 'github/delete_repository'],
    ['by a misspelt word', 'delte the repositry', 'github/delete_repository'],
    ['by a word its name has in two parts', 'flowchart', 'charts/generate_flow_chart'],
    ['by the values its schema allows', 'histogram', 'charts/generate_chart'],
    ['by the description of its server', 'weather', 'acme/run'],
    ['by a query in another script', '微博 热搜', 'trends/get-weibo-trending'],
    ['by a query with accents it does not have', 'pôst à méssage', 'slack/post_message'],
    ['before tools whose name says more than was asked', 'list the issues', 'github/list_issues'],
  ])('%s', (_how, query, expected) => {
    expect(namesFor(query)[0]).toBe(expected);
  });
});

describe('a query of several steps', () => {
  test.each([
    ['sentences', 'List the issues. Post a message to the channel.'],
    ['`and` before a verb', 'list the issues and post a message to the channel'],
    ['a numbered list', '1. list the issues\n2. post a message to the channel'],
    ['`then`', 'list the issues, then post a message to the channel'],
    ['a semicolon', 'list the issues; post a message to the channel'],
  ])('joined by %s has the best tool of each step at the top', (_how, query) => {
    expect(namesFor(query, { limit: 2 }).sort()).toEqual(['github/list_issues', 'slack/post_message']);
  });

  test('is not filled by many like tools of one server', () => {
    const many = Array.from({ length: 30 }, (_, i) => tool('stock', `get_stock_price_${i}`, 'Get a price of a stock'));
    const hits = createSearchIndex([...many, ...documents]).search('get the stock price and post a message to Slack');
    expect(hits.slice(0, 2).map((hit) => hit.tool.name)).toContain('post_message');
  });

  test('also finds the tool that writes the file it asks for', () => {
    expect(namesFor('Make a report of the issues at /home/me/report.md', { limit: 3 })).toContain('files/write_file');
  });

  test('also finds the clock that `tomorrow` needs', () => {
    expect(namesFor('which messages are due tomorrow', { limit: 4 })).toContain('clock/get_current_time');
  });
});

describe('an answer', () => {
  test('to an empty query lists all tools by server and name, up to the limit', () => {
    expect(namesFor('  ', { limit: 3 })).toEqual(['acme/run', 'charts/generate_chart', 'charts/generate_flow_chart']);
    expect(namesFor('*', { limit: 100 })).toHaveLength(documents.length);
  });

  test('to words nobody knows is empty', () => {
    expect(namesFor('qqqqqqqq wwwwwwww')).toEqual([]);
  });

  test('holds only the tools of the server asked for', () => {
    expect(namesFor('list issues', { serverId: 'files', limit: 100 }).every((id) => id.startsWith('files/'))).toBe(
      true,
    );
    expect(namesFor('', { serverId: 'slack' })).toEqual(['slack/channel_history', 'slack/post_message']);
    expect(namesFor('list', { serverId: 'nobody' })).toEqual([]);
  });

  test('has as many hits as were asked for, 10 unless told', () => {
    expect(namesFor('get a file')).toHaveLength(10);
    expect(namesFor('get a file', { limit: 2 })).toHaveLength(2);
    expect(namesFor('get a file', { limit: 0 })).toEqual([]);
    expect(namesFor('get a file', { limit: -1 })).toEqual([]);
    expect(namesFor('get a file', { limit: Number.NaN })).toEqual([]);
  });

  test('beyond the weighed hits goes on by the score for the whole query, each tool once', () => {
    const many = Array.from({ length: 200 }, (_, i) =>
      tool('s', `thing_${i}`, `A thing ${'and a word '.repeat(i % 7)}`),
    );
    const hits = createSearchIndex(many).search('thing', { limit: 150 });
    expect(new Set(hits.map((hit) => hit.tool.name)).size).toBe(150);
    expect(hits.every((hit, i) => i === 0 || hit.score <= hits[i - 1]!.score)).toBe(true);
  });

  test('is the same for the same question, whatever the order the tools came in', () => {
    const queries = ['list issues', 'read a file and post it', 'draw', '', 'write file to /tmp/a.pdf tomorrow'];
    const reversed = createSearchIndex([...documents].reverse());
    for (const query of queries) {
      expect(reversed.search(query, { limit: 100 })).toEqual(index.search(query, { limit: 100 }));
      expect(index.search(query)).toEqual(index.search(query));
    }
  });

  test('puts tools that fit equally well in the order of server and name', () => {
    const twins = createSearchIndex(
      ['c', 'a', 'b'].flatMap((id) => [tool(id, 'ping_2', 'x'), tool(id, 'ping_1', 'x')]),
    );
    expect(twins.search('ping').map(({ tool: { serverId, name } }) => `${serverId} ${name}`)).toEqual([
      'a ping_1',
      'a ping_2',
      'b ping_1',
      'b ping_2',
      'c ping_1',
      'c ping_2',
    ]);
  });
});

describe('foreign text', () => {
  test('in a query never throws and never takes long, whatever its size', () => {
    const megabyte = (text: string) => text.repeat(Math.ceil(1_000_000 / text.length));
    const pieces = [
      'a',
      'a.',
      '/',
      '"',
      "'",
      'save ',
      ' and get ',
      'a@',
      '1. ',
      '文',
      '\u0301',
      '\ud800',
      'a-',
      ' then',
      'ﷺ',
      '\0',
      '٣ ',
      'ไทย',
    ];
    for (const piece of pieces) expect(Array.isArray(index.search(megabyte(piece)))).toBe(true);
  });

  test('in a tool is cut where it grows without end', () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { enum: ['x'] }]));
    let nested: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 5_000; depth += 1) nested = { items: nested, properties: { deep: nested } };
    const hostile = createSearchIndex([
      tool('s', 'long', 'needle '.padEnd(1_000_000, 'hay ')),
      tool('s', 'x'.repeat(1_000_000), 'y'.repeat(1_000_000)),
      tool('s', 'wide', 'z', properties),
      { tool: { serverId: 's', name: 'nested', inputSchema: nested } },
      { tool: { serverId: 's', name: 'odd', inputSchema: { properties: [1, null], enum: 'no', items: 3, anyOf: {} } } },
      { tool: { serverId: '', name: '' }, serverName: '\ud800', serverDescription: 'w'.repeat(1_000_000) },
    ]);
    expect(hostile.search('needle')[0]?.tool.name).toBe('long');
    expect(hostile.search('wide')[0]?.tool.name).toBe('wide');
  });

  test('named like parts of every object is text like any other', () => {
    const odd = createSearchIndex([tool('constructor', '__proto__', 'toString hasOwnProperty'), ...documents]);
    expect(odd.search('__proto__ constructor')[0]?.tool.name).toBe('__proto__');
    expect(index.search('constructor __proto__')).toEqual([]);
  });

  test('of 20,000 tools is indexed, each within its share', () => {
    const many = Array.from({ length: 20_000 }, (_, i) =>
      tool(`s${i % 40}`, `get_thing_${i}`, 'Gets a thing. '.repeat(99)),
    );
    expect(createSearchIndex(many).search('get_thing_777', { limit: 1 })[0]?.tool.name).toBe('get_thing_777');
  });

  test('without any tool gives an index that finds nothing', () => {
    expect(createSearchIndex([]).search('anything')).toEqual([]);
    expect(createSearchIndex([]).search('')).toEqual([]);
  });
});

function namesFor(query: string, options?: SearchOptions): string[] {
  return index.search(query, options).map((hit) => `${hit.tool.serverId}/${hit.tool.name}`);
}

function tool(serverId: string, name: string, description: string, properties: JsonObject = {}): SearchDocument {
  return { tool: { serverId, name, description, inputSchema: { type: 'object', properties } } };
}
