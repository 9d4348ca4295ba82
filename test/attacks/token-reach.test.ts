import { once } from 'node:events';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { DEFAULT_LIMITS } from '../../src/domain/limits.js';
import { GO_ROOTS, SHARED_GO } from '../support/go.js';
import { type Grants, openSession } from '../support/host.js';
import { needs } from '../support/needs.js';
import { everyday, nodeServer, openHome, startServe, until } from '../support/program.js';
import { listed, restClient } from '../support/rest.js';
import { openSandbox } from '../support/sandbox.js';
import { fixture } from '../support/upstreams.js';

/*
 * A token that may call one tool of one server. Nothing else may be visible to it: no list, search, prompt, type, error or
 * suggestion names it, over any surface, in any profile. `vault` is another server, `toolbox` one that is down, `cancellations`
 * another tool of the server that it may call.
 */
const OTHERS = /vault|ledger|toolbox|cancellations/i;
/** Close enough that a host which knows the others suggests them. */
const NEAR = { server: 'vaul', tool: 'cancellation' };
const narrow = {
  ...listed('narrow'),
  capabilities: { mcp: { allowedServers: ['open'], allowedTools: ['open/echo'], maxCallsPerSecond: 1_000 } },
};

/** What a program of each profile finds out by looking around, as one value. */
const LOOKING: Readonly<Record<string, { readonly tool: string; readonly asks: readonly object[] }>> = {
  codemode: {
    tool: 'codemode_run',
    asks: [
      {
        code: `import { listServers, searchTools, listTools, getTool } from '@codemode/discovery';
          import * as open from '@codemode/servers/open';
          const said = (work) => work().catch((error) => [error.message, error.hint]);
          globalThis.__codemode_result__ = [await listServers(), (await searchTools('look erase write')).results, Object.keys(open),
            await said(() => listTools('${NEAR.server}')), await said(() => getTool('open', '${NEAR.tool}'))];`,
        requestedCapabilities: [NEAR.server],
      },
      { code: `import { look } from '@codemode/servers/${NEAR.server}'; await look({});` },
      { code: `import * as open from '@codemode/servers/open'; await open.${NEAR.tool}({});` },
    ],
  },
  unified: {
    tool: 'execute_code',
    asks: [
      { code: 'return [Object.keys(mcp), Object.keys(mcp.open)]' },
      { code: `return await mcp.${NEAR.server}.look({})` },
      { code: `return await mcp.open.${NEAR.tool}({})`, capabilities: ['mcp:open/echo'] },
      { code: 'return 1', capabilities: [`mcp:${NEAR.server}`] },
    ],
  },
  code_execution: {
    tool: 'code_execution',
    asks: [{ code: `[call_tool('${NEAR.server}', 'look', {}), call_tool('open', '${NEAR.tool}', {})]` }],
  },
  runner: {
    tool: 'run_node',
    asks: [
      {
        code: `import { callTool } from './client/mcp_client.js';
          import { readdirSync } from 'node:fs';
          const said = (work) => work().catch((error) => [String(error), error.hint]);
          globalThis.result = [readdirSync('/workspace/servers', { recursive: true }), await catalog.searchTools({ query: 'look erase' }),
            await said(() => callTool('${NEAR.server}', 'look', {})), await said(() => callTool('open', '${NEAR.tool}', {})),
            await said(() => catalog.getToolDefinition({ serverId: 'open', name: '${NEAR.tool}' }))];`,
      },
    ],
  },
  go: { tool: 'execute_go_code', asks: [] },
};

async function said(client: Client, { tool, asks }: (typeof LOOKING)[string]): Promise<string> {
  const { tools } = await client.listTools();
  const { resources } = await client.listResources();
  const texts = await Promise.all(resources.map(({ uri }) => client.readResource({ uri })));
  const answers = [];
  for (const request of asks)
    answers.push(await client.callTool({ name: tool, arguments: request as Record<string, unknown> }).catch(String));
  return JSON.stringify([client.getInstructions(), tools, resources, texts, answers]);
}

describe.each(Object.entries(LOOKING))('profile %s', needs('bubblewrap', 'python3', 'go'), (profile, looking) => {
  let home: ReturnType<typeof openHome>;
  let server: Awaited<ReturnType<typeof startServe>>;
  beforeAll(async () => {
    home = openHome({
      profile,
      mcpServers: {
        open: everyday(),
        vault: nodeServer(fixture('ledger-server.mjs'), 'vault.txt'),
        toolbox: { command: '/nonexistent/toolbox' },
      },
      ...(profile === 'go' ? { go: { path: join(GO_ROOTS[0] ?? '', 'bin/go'), ...SHARED_GO.go } } : {}),
      ...(profile === 'go' ? { quotas: { runs: 1 } } : {}),
      defaults: { codeMode: { excludedTools: ['vault/erase'] } },
      security: {
        auth: { tokens: [listed('wide'), narrow] },
        capabilities: { mcp: { maxCallsPerSecond: 1_000 } },
      },
    });
    server = await startServe(home);
  }, 60_000);
  afterAll(async () => {
    await server?.stop('SIGKILL');
    home?.[Symbol.dispose]();
  });

  test('nothing that a client gets names what its token may not call', async () => {
    await using wide = await server.connect('legacy', {}, 'wide');
    await until(async () => /erase/.test(JSON.stringify(await wide.client.listTools())));
    const all = await said(wide.client, { ...looking, asks: [] });
    expect([all.includes('vault'), all.includes('cancellations')]).toEqual([true, true]);
    for (const era of ['legacy', 'modern'] as const) {
      await using agent = await server.connect(era, {}, 'narrow');
      const text = await said(agent.client, looking);
      expect(text).toContain('echo');
      expect([era, OTHERS.exec(text)?.[0], around(text)]).toEqual([era, undefined, '']);
      await expect(agent.client.callTool({ name: 'erase', arguments: {} })).rejects.toThrow();
    }
    if (profile === 'go') await exceedRuns(() => server.connect('modern', {}, 'narrow'), looking.tool);
    if (profile === 'unified') await lookOverRest(server.url, looking.asks);
  });
});

test('a token with more rights than the configuration is held to both, without capabilities', async () => {
  await using opened = await openSandbox();
  const filesystem = (...paths: string[]) => ({ filesystem: { paths, isReadOnly: true, maxFileBytes: 1_000_000 } });
  const attempt = async (grants: Grants) => {
    const session = openSession(opened.sandbox, grants);
    // A worker that was taken over names any target; `context` gives a program of ours the same.
    const source = `return await fs.readFile({ path: '/etc/passwd' }).catch((error) => error.message)`;
    const answer = await session.run({ source, context: {}, language: 'javascript', limits: DEFAULT_LIMITS });
    return JSON.stringify(answer);
  };
  const bounds = filesystem('/etc', '/data');
  expect(await attempt({ bounds, reach: {} })).toContain('was not granted filesystem:/etc/passwd');
  expect(await attempt({ bounds, reach: filesystem('/data') })).not.toContain('root:');
  expect(await attempt({ bounds, reach: filesystem('/etc') })).toContain('root:');
});

/** Programs at once beyond the quota are refused by name, before anything is compiled for them. */
async function exceedRuns(connect: () => Promise<{ client: Client }>, tool: string): Promise<void> {
  const { client } = await connect();
  const refused: string[] = [];
  for (let n = 0; n < 3; n += 1)
    void client
      .callTool({ name: tool, arguments: { code: `fmt.Print(${n})` } })
      .then((answer) => JSON.stringify(answer), String)
      .then((text) => text.includes('quotas.runs') && refused.push(text));
  await until(() => refused.length === 2);
}

function around(text: string): string {
  const at = text.search(OTHERS);
  return at < 0 ? '' : text.slice(Math.max(0, at - 120), at + 120);
}

/** REST and WebSocket serve the contract `unified` beside every profile. */
async function lookOverRest(url: string, asks: readonly object[]): Promise<void> {
  const rest = restClient(url, 'wide');
  const answers = [(await rest.get('/tools', 'narrow')).body];
  for (const request of asks) answers.push((await rest.post('/execute', 'narrow', request)).body);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, {
    headers: { authorization: 'Bearer narrow' },
  });
  await once(socket, 'open');
  for (const [id, { code, ...options }] of (asks as readonly { code: string }[]).entries()) {
    const answered = once(socket, 'message');
    socket.send(JSON.stringify({ id: String(id), type: 'execute', payload: { code, options } }));
    answers.push(JSON.parse(String((await answered)[0])));
  }
  socket.terminate();
  expect([OTHERS.exec(JSON.stringify(answers))?.[0], around(JSON.stringify(answers))]).toEqual([undefined, '']);
  // To a caller that may not call a server, its name is an address like any other.
  const refusal = async (name: string) => {
    const { body } = await rest.post('/execute', 'narrow', { code: 'return 1', capabilities: [`network:${name}`] });
    return body.error?.message.replaceAll(name, 'NAME');
  };
  expect(await refusal('vault')).toBe(await refusal('nowhere'));
}
