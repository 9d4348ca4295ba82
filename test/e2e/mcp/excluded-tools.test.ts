import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.js';
import { everyday, openHome, openStdio, until } from '../../support/program.js';

/**
 * A tool that is excluded from code is listed as it is, and no way from code leads to it: `count` says how often it was
 * called, so a call that got through anywhere is seen at the end.
 */
const excludedTools = ['everyday/count'];

interface ProfileCase {
  /** What the contract itself lists. */
  readonly listed: readonly string[];
  /** Programs that try every way there is, by the tool that runs them; each gives a list of what it found out. */
  readonly attempts: Readonly<Record<string, { readonly code: string; readonly seen: unknown }>>;
  readonly valueOf: (answer: CallToolResult) => unknown;
}

const structured = ({ structuredContent }: CallToolResult) => structuredContent as Record<string, unknown>;
const runnerValue = (answer: CallToolResult) => (structured(answer)['result'] as { data?: unknown }).data;

const PROFILES: Readonly<Record<string, ProfileCase>> = {
  codemode: {
    listed: ['codemode_run'],
    valueOf: (answer) => structured(answer)['result'],
    attempts: {
      codemode_run: {
        code: `import * as everyday from '@codemode/servers/everyday';
          import { searchTools, getTool, listTools } from '@codemode/discovery';
          const found = async (ask) => JSON.stringify(await ask().catch((error) => error.name)).includes('How often');
          const seen = [typeof everyday.echo, typeof everyday.count, Object.keys(everyday).includes('count')];
          seen.push(await found(() => listTools('everyday', { detail: 'full' })));
          seen.push(await found(() => searchTools('how often this tool was called', { detail: 'full' })));
          seen.push(await found(() => getTool('everyday', 'count')));
          globalThis.__codemode_result__ = seen;`,
        seen: ['function', 'undefined', false, false, false, false],
      },
    },
  },
  unified: {
    listed: ['execute_code'],
    valueOf: (answer) => structured(answer)['result'],
    attempts: {
      execute_code: {
        code: `const attempt = async (call) => { try { await call(); return 'called'; } catch { return 'refused'; } };
          return [typeof mcp.everyday.echo, 'count' in mcp.everyday, await attempt(() => mcp.everyday.count({})),
            await attempt(() => mcp['everyday']['count']()), Object.keys(mcp.everyday).includes('count')];`,
        seen: ['function', false, 'refused', 'refused', false],
      },
    },
  },
  code_execution: {
    listed: ['code_execution'],
    valueOf: (answer) => structured(answer)['value'],
    attempts: {
      code_execution: {
        code: `[call_tool('everyday', 'echo', { message: 'x' }).ok].concat([['everyday', 'count'], ['mcp:everyday', 'count'],
          ['everyday/count', ''], ['', 'everyday/count'], ['everyday', 'COUNT'], ['everyday', 'count ']]
          .map((names) => call_tool(names[0], names[1], {}).ok))`,
        seen: [true, false, false, false, false, false, false],
      },
    },
  },
  runner: {
    listed: ['run_node', 'run_python'],
    valueOf: runnerValue,
    attempts: {
      run_node: {
        code: `import * as everyday from './servers/everyday/index.js';
          import { callTool } from './client/mcp_client.js';
          const attempt = (server, name) => callTool(server, name, {}).then(() => 'called', () => 'refused');
          const found = await catalog.searchTools({ query: 'how often this tool was called', detail: 'name+description' });
          const defined = await catalog.getToolDefinition({ serverId: 'everyday', name: 'count' }).then(() => 'told', () => 'refused');
          globalThis.result = [typeof everyday.echo, typeof everyday.count, JSON.stringify(found).includes('How often'), defined,
            await attempt('everyday', 'count'), await attempt('everyday/count', ''), await attempt('mcp:everyday', 'count')];`,
        seen: ['function', 'undefined', false, 'refused', 'refused', 'refused', 'refused'],
      },
      run_python: {
        code: `import servers.everyday as everyday, client.mcp_client as connection, os, json, sys
async def attempt(server, name):
    try:
        await connection.call_tool(server, name, {})
        return 'called'
    except connection.ToolError:
        return 'refused'
found = json.dumps(await catalog.searchTools({'query': 'how often this tool was called', 'detail': 'name+description'}))
seen = [hasattr(everyday, 'echo'), hasattr(everyday, 'count'), 'How often' in found]
seen += [await attempt('everyday', 'count'), await attempt('everyday/count', '')]
# A frame of its own making, with the number that comes next and the execution as it is in memory.
module = next(each for each in sys.modules.values() if hasattr(getattr(each, '_connection', None), '_execution'))
channel = module._connection
channel._last_number += 1
import concurrent.futures, asyncio
forged = channel._open[channel._last_number] = concurrent.futures.Future()
forged.set_running_or_notify_cancel()
channel._write({'type': 'call/request', 'execution': channel._execution, 'call': channel._last_number, 'target': 'everyday/count'}, b'[{}]')
try:
    await asyncio.wrap_future(forged)
    seen.append('called')
except connection.ToolError as error:
    seen.append('refused')
result = seen`,
        seen: [true, false, false, 'refused', 'refused', 'refused'],
      },
    },
  },
};

const WAYS = ['defaults', 'models'] as const;

describe.each(Object.entries(PROFILES))('in profile %s', needs('bubblewrap', 'python3'), (profile, expected) => {
  test.each(WAYS)('a tool excluded under %s is listed as it is, and code does not reach it [E7]', async (way) => {
    const codeMode = { excludedTools };
    using home = openHome({
      profile,
      mcpServers: { everyday: everyday() },
      ...(way === 'defaults' ? { defaults: { codeMode } } : { models: [{ ref: 'small', codeMode }] }),
    });
    await using program = await openStdio(home, 'legacy', {}, way === 'models' ? ['--model', 'small'] : []);
    const { client } = program;
    await until(async () => (await namesOf(client)).includes('count'));
    expect((await namesOf(client)).sort()).toEqual([...expected.listed, 'count'].sort());
    await expect(client.callTool({ name: 'echo', arguments: { message: 'x' } })).rejects.toThrow(/echo is called from/);
    const told = [
      client.getInstructions(),
      ...(await client.listTools()).tools.slice(1).map((each) => each.description),
    ];
    for (const [name, { code, seen }] of Object.entries(expected.attempts)) {
      const answer = (await client.callTool({ name, arguments: { code } })) as CallToolResult;
      expect(expected.valueOf(answer), JSON.stringify(answer.structuredContent)).toEqual(seen);
      expect(told.join('\n')).not.toMatch(/everyday\.count|count\(\)/);
    }
    expect(await client.callTool({ name: 'count', arguments: {} })).toMatchObject({ content: [{ text: '1' }] });
  });
});

test('without code mode every tool is listed, and nothing that runs code, in every profile [E7]', async () => {
  const { codemode: _, ...others } = PROFILES;
  const cases = [...Object.entries(others), ['go', { listed: ['execute_go_code'] }] as const];
  const lists = cases.map(async ([profile, { listed }]) => {
    using home = openHome({
      profile,
      mcpServers: { everyday: everyday() },
      defaults: { codeMode: { enabled: false } },
    });
    await using program = await openStdio(home);
    await until(async () => (await namesOf(program.client)).includes('count'));
    const names = await namesOf(program.client);
    return [names.includes('echo'), listed.some((own) => names.includes(own))];
  });
  expect(await Promise.all(lists)).toEqual(cases.map(() => [true, false]));
});

async function namesOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

test('a model without its own codeMode keeps the defaults, and a partial one the missing key', async () => {
  using home = openHome({
    mcpServers: { everyday: everyday() },
    defaults: { codeMode: { enabled: false, excludedTools: ['count'] } },
    models: [{ ref: 'plain' }, { ref: 'coding', codeMode: { enabled: true } }],
  });
  await using plain = await openStdio(home, 'legacy', {}, ['--model', 'plain']);
  await until(async () => (await namesOf(plain.client)).includes('count'));
  expect(await namesOf(plain.client)).toContain('echo');
  expect((await namesOf(plain.client)).filter((name) => name.startsWith('codemode'))).toEqual([]);
  await using coding = await openStdio(home, 'legacy', {}, ['--model', 'coding']);
  await until(async () => (await namesOf(coding.client)).includes('count'));
  expect((await namesOf(coding.client)).filter((name) => !name.startsWith('codemode'))).toEqual(['count']);
});
