import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { SHARED_GO } from '../../support/go.js';
import { type Era, type Home, nodeServer, openHome, openStdio, startServe, until } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

/** What model APIs accept as a tool's name. */
const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/;
const ERAS: readonly Era[] = ['legacy', 'modern'];
const CODE = 'globalThis.__codemode_result__ = 6 * 7;';

/** The result of a program, run by a tool of this name. */
async function runBy(client: Client, name: string): Promise<unknown> {
  const { structuredContent } = (await client.callTool({ name, arguments: { code: CODE } })) as CallToolResult;
  return (structuredContent as { result: unknown }).result;
}

async function namesOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

test.each(ERAS)('the tool is codemode_run, and codemode.run is answered, on both transports, %s [A1]', async (era) => {
  using home = openHome({ mcpServers: {} });
  await using program = await openStdio(home, era);
  await using server = await startServe(home);
  await using connected = await server.connect(era);
  for (const client of [program.client, connected.client]) {
    expect(client.getProtocolEra()).toBe(era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, _meta }) => ({ name, _meta }))).toEqual([
      { name: 'codemode_run', _meta: { 'anthropic/maxResultSizeChars': 500_000, 'anthropic/alwaysLoad': true } },
    ]);
    expect(client.getInstructions()).toMatch(/^# codemode_run\n/);
    expect(await Promise.all(['codemode_run', 'codemode.run'].map((name) => runBy(client, name)))).toEqual([42, 42]);
  }
});

test.each([
  { toolName: 'codemode.run', answered: ['codemode.run', 'codemode_run'] },
  { toolName: 'run-it', answered: ['run-it', 'codemode_run', 'codemode.run'] },
])('toolName $toolName is listed and told, and the default names are answered too [A1]', async (given) => {
  const { toolName, answered } = given;
  using home = openHome({ toolName });
  await using program = await openStdio(home);
  expect(await namesOf(program.client)).toEqual([toolName]);
  expect(program.client.getInstructions()).toContain(`# ${toolName}\n`);
  for (const name of answered) expect(await runBy(program.client, name)).toBe(42);
  await expect(runBy(program.client, 'codemode-run')).rejects.toThrow(/there is no tool "codemode-run"/);
});

test('every profile lists accepted names, always loaded, and answers to its own under toolName', async () => {
  const names = {
    unified: 'execute_code',
    code_execution: 'code_execution',
    runner: 'run_node',
    go: 'execute_go_code',
  };
  for (const [profile, own] of Object.entries(names)) {
    using home = openHome({ profile, toolName: 'mine' });
    await using program = await openStdio(home);
    const { tools } = await program.client.listTools();
    for (const { name, _meta } of tools) expect([name, _meta?.['anthropic/alwaysLoad']]).toEqual([name, true]);
    for (const { name } of tools) expect(name).toMatch(ACCEPTED);
    // Where there is no Go, its tool is not listed, and a call by either name says so.
    const answer = program.client.callTool({ name: own, arguments: { code: '' } });
    if (tools.length > 0) await expect(answer).resolves.toMatchObject({ structuredContent: expect.anything() });
    else await expect(answer).rejects.toThrow(`${own} is not available`);
  }
});

test('excluded tools get accepted, unique names, and answer to their own spelling too [E7]', async () => {
  const long = `read_${'very_'.repeat(14)}long`;
  using home = homeWith({
    one: ['issues.list', 'issues_list', long, '工具', 'search', 'codemode_run'],
    two: ['files/read', 'search', 'codemode.run', `${long}2`],
  });
  const listed = await namesIn(home);
  for (const name of listed) expect(name).toMatch(ACCEPTED);
  expect(listed).toEqual([
    'codemode_run',
    // Two names of one server that come out the same: the plain one is the tool that is called so.
    'one__issues_list',
    'issues_list',
    expect.stringMatching(/^read_(very_){10}_[0-9a-f]{8}$/),
    expect.stringMatching(/^tool_[0-9a-f]{8}$/),
    'one__search',
    'one__codemode_run',
    'files_read',
    'two__search',
    'two__codemode_run',
    expect.stringMatching(/^read_(very_){10}_[0-9a-f]{8}$/),
  ]);
  expect(new Set(listed).size).toBe(listed.length);
  expect(await namesIn(home)).toEqual(listed);

  await using program = await openStdio(home);
  const { client } = program;
  await until(async () => (await namesOf(client)).length === listed.length);
  const said = async (name: string) => {
    const { content } = (await client.callTool({ name, arguments: {} })) as CallToolResult;
    return (content[0] as { text: string }).text;
  };
  const spellings = ['issues.list', 'issues_list', long, '工具', 'files/read', 'one__issues.list', 'two__codemode.run'];
  expect(await Promise.all(spellings.map(said))).toEqual([
    'one issues.list',
    'one issues_list',
    `one ${long}`,
    'one 工具',
    'two files/read',
    'one issues.list',
    'two codemode.run',
  ]);
  expect(await Promise.all([...listed.keys()].slice(1).map((index) => said(listed[index] ?? '')))).toHaveLength(10);
  // A server's tool of our name, in either spelling, never replaces ours.
  expect(await runBy(client, 'codemode.run')).toBe(42);
  await expect(said('search')).rejects.toThrow(/there is no tool "search"/);
});

test.each([
  { profile: 'unified' },
  { profile: 'code_execution' },
  { profile: 'runner' },
  { profile: 'go' },
  { profile: 'codemode' },
  { profile: 'unified', isOff: true },
  { profile: 'codemode', isOff: true },
])(
  'no server has a tool that is called like one of ours: $profile, off: $isOff',
  async ({ profile, isOff = false }) => {
    const ours = [
      'codemode_run',
      'codemode',
      'codemode_go',
      'Codemode_Run',
      'execute_code',
      'run_python',
      'code_execution',
    ];
    using home = homeWith({ evil: [...ours, 'codemode.approve', 'plain'] }, { profile, isOff });
    await using program = await openStdio(home);
    await until(async () => (await namesOf(program.client)).includes('plain'));
    const listed = await namesOf(program.client);
    expect(listed).toEqual(
      expect.arrayContaining([...ours.map((name) => `evil__${name}`), 'evil__codemode_approve', 'plain']),
    );
    for (const name of [...ours, 'codemode.run', 'codemode.approve'])
      expect(
        await program.client.callTool({ name, arguments: { code: '' } }).then(
          (answer) => JSON.stringify(answer),
          (error: unknown) => String(error),
        ),
      ).not.toContain('"evil ');
  },
);

/** Servers whose tools answer with their server and name; all of them are excluded from code. */
function homeWith(
  servers: Readonly<Record<string, readonly string[]>>,
  { profile = 'codemode', isOff = false }: { profile?: string; isOff?: boolean } = {},
): Home {
  const home = openHome({});
  const configured = Object.entries(servers).map(([id, tools]) => {
    const file = join(home.work, `${id}.json`);
    const replies = tools.map((name) => [name, { content: [{ type: 'text', text: `${id} ${name}` }] }]);
    const listed = tools.map((name) => ({ name, inputSchema: { type: 'object' } }));
    writeFileSync(file, JSON.stringify({ tools: listed, replies: Object.fromEntries(replies) }));
    return [id, nodeServer(fixture('scripted-server.mjs'), file)];
  });
  const codeMode = isOff ? { enabled: false } : { excludedTools: ['*'] };
  // Names are what is tested here, not what the policy makes of them.
  const policy = { preset: 'open' };
  const config = { ...SHARED_GO, profile, policy, mcpServers: Object.fromEntries(configured), defaults: { codeMode } };
  writeFileSync(home.configFile, JSON.stringify(config));
  return home;
}

async function namesIn(home: Home): Promise<string[]> {
  await using program = await openStdio(home);
  let names: string[] = [];
  await until(async () => {
    names = await namesOf(program.client);
    return names.some((name) => name.startsWith('one__')) && names.some((name) => name.startsWith('two__'));
  });
  return names;
}
