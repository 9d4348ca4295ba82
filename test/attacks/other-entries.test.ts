import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Home } from '../support/cli.js';
import { needs } from '../support/needs.js';
import { nodeServer, openHome, ready, run, startServe, until } from '../support/program.js';
import { atDesk, listed, restClient } from '../support/rest.js';
import { fixture, startHttpServer } from '../support/upstreams.js';

/* The rules at entry points that share one host here: decisions over the WebSocket, and questions of a server behind one. */
let upstream: Awaited<ReturnType<typeof startHttpServer>>;
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
beforeAll(async () => {
  upstream = await startHttpServer('websocket');
  home = openHome({
    approvals: { grace: '20ms' },
    mcpServers: {
      ledger: nodeServer(fixture('ledger-server.mjs'), 'ledger.txt'),
      remote: { url: `ws://127.0.0.1:${upstream.port}` },
    },
    policy: { preset: 'open', rules: [{ tools: 'ledger/write', decision: 'ask' }] },
    security: { auth: { tokens: [listed('agent'), listed('boss', 'approve'), atDesk('ann'), atDesk('ben')] } },
  });
  server = await startServe(home);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  home?.[Symbol.dispose]();
  await upstream?.[Symbol.asyncDispose]();
});

interface Message {
  readonly id: string;
  readonly type: string;
  readonly payload: {
    readonly message?: string;
    readonly error?: { details?: { approvals?: { id: string }[]; runId?: string } };
  };
}

test(
  'nothing is decided over the WebSocket: its own connection cannot approve a suspended run',
  needs('bubblewrap'),
  async () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, {
      headers: { authorization: 'Bearer agent' },
    });
    await once(socket, 'open');
    const said: Message[] = [];
    socket.on('message', (data: Buffer) => said.push(JSON.parse(data.toString()) as Message));
    const exchange = async (message: object): Promise<Message> => {
      const before = said.length;
      socket.send(JSON.stringify(message));
      await until(() => said.length > before);
      return said.at(-1) as Message;
    };
    const code = `return [await mcp.ledger.write({ text: 'shown' }), await mcp.ledger.write({ text: 'later' }).catch((e) => e.message)]`;
    const asked = await exchange({
      id: '1',
      type: 'execute',
      payload: { code, options: { capabilities: ['mcp:ledger'] } },
    });
    const { approvals = [], runId = '' } = asked.payload.error?.details ?? {};
    expect(approvals).toHaveLength(1);
    const id = approvals[0]?.id ?? '';
    for (const type of ['approve', 'decide', 'result'])
      expect(await exchange({ id: '2', type, payload: { id, decision: 'approve', sure: true } })).toMatchObject({
        type: 'error',
      });
    const rest = restClient(server.url, 'agent');
    expect((await rest.post(`/approvals/${id}/approve`, 'agent')).status).toBe(403);
    expect((await rest.post(`/approvals/${id}/approve`, 'boss')).status).toBe(200);
    // The second call was not on the card: it asks again.
    await until(async () => {
      const { body } = await rest.get('/approvals', 'boss');
      const [open] = body.approvals as { id: string; arguments: { text: string } }[];
      return open !== undefined && open.id !== id && open.arguments.text === 'later';
    });
    await until(async () => (await rest.get(`/runs/${runId}`, 'agent')).body.state === 'suspended');
    socket.terminate();
  },
);

test('a server behind a WebSocket asks only the person of its one call in flight', async () => {
  const connect = async (token: string) => {
    const connected = await server.connect('legacy', { capabilities: { elicitation: {} } }, token);
    const forms: string[] = [];
    connected.client.setRequestHandler('elicitation/create', async ({ params }) => {
      forms.push(params.message);
      return { action: 'accept', content: { sure: true } };
    });
    return { ...connected, forms };
  };
  await using agent = await connect('agent');
  await using ann = await connect('ann');
  await using ben = await connect('ben');
  await ready(ann.client, 'remote');
  const confirm = ({ client }: typeof ann) =>
    run(
      client,
      `import { confirm } from '@codemode/servers/remote';
      globalThis.__codemode_result__ = await confirm({}).catch((error) => 'refused: ' + error.message);`,
    );
  expect((await confirm(ann)).result).toBe('sure: true');
  expect(String((await confirm(agent)).result)).not.toContain('sure: true');
  expect([ann.forms.length, agent.forms.length, ben.forms.length]).toEqual([1, 0, 0]);
  // Both calls go over the same socket in this order: when the second one makes progress, the first is under way.
  const both = `import { meet, slow } from '@codemode/servers/remote'; await Promise.all([meet({ count: 2 }), slow({ ms: 1 })]);`;
  let waiting: Promise<unknown> = Promise.resolve();
  await new Promise<void>((begun) => {
    waiting = run(ben.client, both, {}, { onprogress: ({ message = '' }) => message.includes('half') && begun() });
  });
  const crossed = await confirm(ann);
  await run(ann.client, `import { meet } from '@codemode/servers/remote'; await meet({ count: 2 });`);
  await waiting;
  expect(String(crossed.result)).not.toContain('sure: true');
  expect([ann.forms.length, ben.forms.length]).toEqual([1, 0]);
});

test('codemode prompt prints what the caller of this machine is told, not what another one is', async () => {
  using own = new Home();
  own.write('codemode.config.yaml', {
    mcpServers: Object.fromEntries(
      ['seen', 'withheld'].map((name) => [name, { command: process.execPath, args: [fixture('everyday-server.mjs')] }]),
    ),
    policy: [
      { tools: 'withheld/*', caller: 'stdio', decision: 'deny' },
      { tools: 'seen/*', caller: 'subject token agent', decision: 'deny' },
    ],
  });
  for (const profile of ['codemode', 'unified']) {
    const { stdout } = await own.run(['prompt', '--json', '--profile', profile]);
    expect([profile, /withheld/.test(stdout), /seen/.test(stdout)]).toEqual([profile, false, true]);
  }
});
