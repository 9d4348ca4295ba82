import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunResponse } from '../../../src/profiles/codemode/render.js';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';
import { fixture } from '../../support/upstreams.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object', properties: { id: { type: 'string' } } } });

let codemode: CodemodeClient;
beforeAll(async () => {
  codemode = await startCodemode({
    scripts: { users: { tools: [tool('get_user_info'), tool('delete_user'), tool('rotate_logs')] } },
    servers: {
      dead: { command: 'no-such-command-anywhere' },
      hanging: { command: process.execPath, args: [fixture('slow-server.mjs'), '--hang'] },
      broken: { command: process.execPath, comand: 'x' },
    },
  });
});
afterAll(() => codemode[Symbol.asyncDispose]());

/** Types of servers come with the first answer that names them, beside what these tests are about. */
const withoutTypes = ({ diagnostics }: RunResponse) => diagnostics;

const REASONS = {
  dead: /^dead is not available: .*command not found: no-such-command-anywhere/,
  hanging: /^hanging: it is still starting/,
  broken: /^broken is not available: .*comand: unknown key/,
  nowhere: /^there is no server "nowhere"/,
} as const;
type Name = keyof typeof REASONS;
/** The one that hangs is waited for at each use: one test has it. */
const NAMES = (Object.keys(REASONS) as Name[]).filter((name) => name !== 'hanging');

describe.each(NAMES)('server %s', (name) => {
  test.each([
    ['a named import', `import { act } from '@codemode/servers/${name}'; await act({});`],
    ['import *', `import * as server from '@codemode/servers/${name}'; await server.act({});`],
    ['a dynamic import', `const server = await import('@codemode/servers/${name}'); await server.act({});`],
  ])('%s fails once, with the server and its reason [A11, A29]', async (_, code) => {
    const { diagnostics, result } = await codemode.run(code);
    expect(diagnostics).toEqual([
      {
        severity: 'error',
        code: 'IMPORT_FAILURE',
        errorClass: 'ServerNotFoundError',
        message: expect.stringMatching(REASONS[name]),
        hint: expect.any(String),
        path: expect.stringMatching(/^main\.ts:1:\d+$/),
      },
    ]);
    expect(result).toBeNull();
  });

  test('a program can catch what a dynamic import and discovery throw [A29]', async () => {
    const errors = await codemode.value(`
      import { ServerNotFoundError } from '@codemode/errors';
      import * as discovery from '@codemode/discovery';
      const uses = [
        () => import('@codemode/servers/${name}'),
        () => discovery.getTool('${name}', 'act'),
        () => discovery.listTools('${name}'),
        () => discovery.describeServer('${name}'),
        () => discovery.searchTools('act', { serverId: '${name}' }),
      ];
      const seen = [];
      for (const use of uses) {
        try { seen.push(await use()) } catch (error) { seen.push([error instanceof ServerNotFoundError, error.hint !== '']) }
      }
      globalThis.__codemode_result__ = seen;`);
    expect(errors).toEqual(Array.from({ length: 5 }, () => [true, true]));
  });
});

test('a server that is still starting is waited for, then named, and the hint is to run again [A11]', async () => {
  const { diagnostics } = await codemode.run(`import { act } from '@codemode/servers/hanging'; await act({});`);
  expect(diagnostics).toMatchObject([
    {
      code: 'IMPORT_FAILURE',
      errorClass: 'ServerNotFoundError',
      message: expect.stringMatching(REASONS.hanging),
      hint: 'Run the program again in a few seconds.',
    },
  ]);
});

test('listServers has only servers that are there, and diagnostics name the others [A15]', async () => {
  const { result, diagnostics } = await codemode.run(`
    import { listServers } from '@codemode/discovery';
    globalThis.__codemode_result__ = (await listServers()).map(({ serverId }) => serverId);`);
  expect(result).toEqual(['users']);
  expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
    ['CAPABILITY_UNAVAILABLE', expect.stringMatching(REASONS.dead)],
    ['CAPABILITY_UNAVAILABLE', expect.stringMatching(REASONS.broken)],
    ['SERVER_STARTING', expect.stringMatching(REASONS.hanging)],
  ]);
});

describe('a tool that a namespace does not have', () => {
  test.each([
    ['import * as users from "@codemode/servers/users";\nawait users.get_usr_info({});', 'users.get_usr_info'],
    // A word of the name, or its words in another order.
    ['import * as users from "@codemode/servers/users";\nawait users.get({});', 'users.get'],
    ['import * as users from "@codemode/servers/users";\nawait users.info_user_get({});', 'users.info_user_get'],
    [
      'const it = await import("@codemode/servers/users");\n[1].forEach((id) => it.getUserInfos(id));',
      'it.getUserInfos',
    ],
    [
      'const { delete_user, get_usr_info } = await import("@codemode/servers/users");\nawait get_usr_info({});',
      'get_usr_info',
    ],
    ['const { get_usr_info: look } = await import("@codemode/servers/users");\nawait look({});', 'look'],
  ])('is named with the nearest one [A28]', async (code, callee) => {
    expect(withoutTypes(await codemode.run(code))).toMatchObject([
      {
        code: 'UNCAUGHT_EXCEPTION',
        message: `TypeError: ${callee} is not a function: users has no such tool`,
        hint: `Use ${callee.includes('.') ? `${callee.split('.')[0]}.` : ''}get_user_info instead.`,
        errorClass: 'ToolNotFoundError',
        path: expect.stringMatching(/^main\.ts:2:/),
      },
    ]);
  });

  test('is named if no name is near, and so is any other value that is not a function [A28]', async () => {
    const far = await codemode.run('import * as users from "@codemode/servers/users"; users.quux();');
    expect(far.diagnostics[0]).toMatchObject({
      message: expect.stringContaining('users.quux is not a function'),
      hint: 'List its tools: await listTools("users") of @codemode/discovery.',
    });
    const own = await codemode.run('const data = { rows: [] };\ndata.rows.first();');
    expect(own.diagnostics[0]?.message).toBe('TypeError: data.rows.first is not a function');
  });
});

test('a search does not fill up with the other tools of the server that has the hit [A17]', async () => {
  const search = (query: string) =>
    codemode.value(`import { searchTools } from '@codemode/discovery';
      globalThis.__codemode_result__ = (await searchTools(${JSON.stringify(query)})).results.map((hit) => hit.toolName);`);
  expect(await search('rotate the logs')).toEqual(['rotate_logs']);
  expect(await search('users')).toEqual(expect.arrayContaining(['get_user_info', 'delete_user']));
});
