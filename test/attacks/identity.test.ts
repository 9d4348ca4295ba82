import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ClientOptions,
  call,
  type Era,
  nodeServer,
  openHome,
  ready,
  run,
  startServe,
} from '../support/program.js';
import { atDesk, listed, restClient } from '../support/rest.js';
import { fixture } from '../support/upstreams.js';

/**
 * One identity through every surface: a token's owner is the same caller over MCP in both eras and over REST, and a decision
 * comes only from somebody who may decide. Here the agent's client claims that it shows forms, and answers them itself.
 */
const home = openHome({});
const ledger = (name: string) => nodeServer(fixture('ledger-server.mjs'), join(home.work, name));
const written = (name = 'ledger') => {
  const file = join(home.work, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
};
const served = openHome({
  approvals: { grace: '50ms' },
  mcpServers: {
    ledger: ledger('ledger'),
    plain: ledger('plain'),
    secret: ledger('secret'),
    asking: nodeServer(fixture('asking-server.mjs')),
  },
  defaults: { codeMode: { excludedTools: ['plain/*'] } },
  policy: {
    rules: [
      { tools: 'secret/*', caller: 'subject token agent', decision: 'deny' },
      { tools: 'plain/erase', caller: 'subject token agent', decision: 'deny' },
    ],
  },
  limits: [{ tools: 'ledger/look', caller: 'subject token limited', each: 'caller', rate: '2/h' }],
  security: {
    auth: {
      tokens: [listed('agent'), listed('limited'), atDesk('desk'), listed('boss', 'approve')],
    },
  },
});
let server: Awaited<ReturnType<typeof startServe>>;
beforeAll(async () => {
  server = await startServe(served);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  served[Symbol.dispose]();
  home[Symbol.dispose]();
});

/** A client that says it shows forms, and gives the same answer to each. */
async function connect(era: Era, bearer: string, decision = 'approve for an hour', ...servers: string[]) {
  const options: ClientOptions = { capabilities: { elicitation: {} } };
  const connected = await server.connect(era, options, bearer);
  const forms: string[] = [];
  connected.client.setRequestHandler('elicitation/create', async ({ params }) => {
    forms.push(params.message);
    return { action: 'accept', content: { decision, sure: true } };
  });
  await ready(connected.client, 'ledger', ...servers);
  return { ...connected, forms };
}

const WRITE = (text: string) => `import { write } from '@codemode/servers/ledger';
  globalThis.__codemode_result__ = (await write({ text: ${JSON.stringify(text)} })).did;`;
const rest = () => restClient(server.url, 'agent');

describe.each(['legacy', 'modern'] as const)('over /mcp, in the %s era', (era) => {
  test('a token without a person gets no form, and its own yes releases nothing', async () => {
    await using agent = await connect(era, 'agent');
    const { diagnostics } = await run(agent.client, WRITE(`agent ${era}`));
    expect(diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
    const direct = await agent.client.callTool({ name: 'plain__write', arguments: { text: era } });
    expect(direct).toMatchObject({ isError: true });
    expect(agent.forms).toEqual([]);
    expect(written()).not.toContain(`write agent ${era}`);
    expect(written('plain')).not.toContain(`write ${era}`);
    const body = { code: `return await mcp.ledger.write({ text: 'rest ${era}' })`, capabilities: ['mcp:ledger'] };
    expect(await rest().post('/execute', 'agent', body)).toMatchObject({ status: 202 });
    expect(written()).not.toContain(`write rest ${era}`);
  });

  test('a configured person gets the form at once, and the record names the token', async () => {
    await using desk = await connect(era, 'desk', 'approve');
    const startedAt = performance.now();
    const { result } = await run(desk.client, WRITE(`desk ${era}`));
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(result).toBe('write');
    expect(desk.forms).toHaveLength(1);
    const direct = await desk.client.callTool({ name: 'plain__write', arguments: { text: `desk ${era}` } });
    expect([direct.isError ?? false, desk.forms.length]).toEqual([false, 2]);
    const { body } = await rest().get('/approvals?state=all', 'boss');
    const decided = (body.approvals as { arguments: { text: string }; decision?: { by: string } }[]).filter(
      ({ arguments: { text } }) => text === `desk ${era}`,
    );
    expect(decided.map(({ decision }) => decision?.by)).toEqual(['the user of token desk', 'the user of token desk']);
  });

  test('what a server wants to know of a person is not asked of an agent', async () => {
    const ask = `import { ask } from '@codemode/servers/asking';
      globalThis.__codemode_result__ = JSON.parse(await ask({ kind: 'elicitation' }));`;
    await using agent = await connect(era, 'agent', 'approve', 'asking');
    expect((await run(agent.client, ask)).result).toEqual({ error: expect.stringMatching(/no person uses/) });
    expect(agent.forms).toEqual([]);
    await using desk = await connect(era, 'desk');
    expect((await run(desk.client, ask)).result).toMatchObject({ action: 'accept' });
  });

  test('rules for a token hide and deny tools wherever they are listed, searched or called', async () => {
    await using agent = await connect(era, 'agent');
    await using desk = await connect(era, 'desk');
    const seen = async ({ client }: typeof agent) => {
      const { tools } = await client.listTools();
      const { resources } = await client.listResources();
      const { result } = await run(
        client,
        `import { listServers, searchTools } from '@codemode/discovery';
         const found = await searchTools('look ledger', { limit: 3 });
         globalThis.__codemode_result__ = [await listServers(), found.results];`,
      );
      return {
        told: JSON.stringify([client.getInstructions(), tools, resources, result]),
        hits: (result as [unknown, unknown[]])[1].length,
        direct: tools.map(({ name }) => name),
      };
    };
    const [less, all] = [await seen(agent), await seen(desk)];
    expect(less.told).not.toContain('secret');
    expect(all.told).toContain('secret');
    expect(less.direct).toEqual(['codemode_run', 'look', 'write']);
    expect(all.direct).toEqual(['codemode_run', 'look', 'write', 'erase']);
    // What is hidden takes no place among what is found.
    expect([less.hits, all.hits]).toEqual([3, 3]);
    await expect(agent.client.readResource({ uri: 'codemode://servers/secret/types.d.ts' })).rejects.toThrow();
    await expect(agent.client.callTool({ name: 'erase', arguments: {} })).rejects.toThrow();
    await expect(agent.client.callTool({ name: 'plain__erase', arguments: {} })).rejects.toThrow(/no tool/);
    const { diagnostics } = await run(agent.client, `import { look } from '@codemode/servers/secret'; await look({});`);
    expect(diagnostics[0]?.severity).toBe('error');
    expect(written('secret')).toEqual([]);
  });
});

test('sessions and eras of one token share its limits, and what is kept for a session is its own', async () => {
  const look = `import { look } from '@codemode/servers/ledger'; globalThis.__codemode_result__ = (await look({})).did;`;
  const clients = await Promise.all((['legacy', 'legacy', 'modern'] as const).map((era) => connect(era, 'limited')));
  const results = [];
  for (const { client } of clients) results.push((await run(client, look)).result);
  expect(results).toEqual(['look', 'look', null]);
  const [first, second] = clients as [(typeof clients)[0], (typeof clients)[0]];
  const long = await call(first.client, { code: `globalThis.__codemode_result__ = 'x'.repeat(2_000_000);` });
  const handle = /result-[\da-f-]{36}/.exec(JSON.stringify(long))?.[0] ?? '';
  const load = `import { load } from '@codemode/results';
    globalThis.__codemode_result__ = await load(${JSON.stringify(handle)}).then((text) => text.length, () => 'none');`;
  expect((await run(first.client, load)).result).toBe(2_000_000);
  expect((await run(second.client, load)).result).toBe('none');
  await second.client.close();
  expect((await run(first.client, load)).result).toBe(2_000_000);
  await using agent = await connect('legacy', 'agent');
  expect((await run(agent.client, load)).result).toBe('none');
  for (const { client } of clients) await client.close();
});

test('a run that moves to V8 is of the same caller: its rules, its approvals and its limits', async () => {
  const handedOver = async () => {
    const response = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer agent' } });
    return Number(/codemode_pool_total\{event="v8_won"\} (\d+)/.exec(await response.text())?.[1]);
  };
  const busy = '{ let n = 0; for (let i = 0; i < 3e7; i++) n = (n + i) % 7; }';
  const source = `import { look } from '@codemode/servers/ledger';
    const outcomes = [];
    for (let n = 0; n < 3; n++) {
      ${busy}
      outcomes.push(await look({ text: 'v8' }).then(() => 'made', (error) => error.message));
    }
    globalThis.__codemode_result__ = outcomes;`;
  await using limited = await connect('modern', 'limited', 'approve for an hour', 'secret');
  await using agent = await connect('modern', 'agent');
  const before = await handedOver();
  // Two an hour, which the older calls of this caller have used up or use up now, wherever the program runs.
  const { result } = await run(limited.client, source);
  expect((result as unknown[]).at(-1)).toContain('ledger');
  expect((result as unknown[]).at(-1)).not.toBe('made');
  const denied = `${busy} const secret = await import('@codemode/servers/secret').catch((error) => error.message);
    globalThis.__codemode_result__ = typeof secret === 'string' ? secret : Object.keys(secret);`;
  const { result: hidden, diagnostics } = await run(agent.client, denied);
  expect(JSON.stringify([hidden, diagnostics])).not.toMatch(/look|erase/);
  const asked = await run(agent.client, `${busy} ${WRITE('agent in V8')}`);
  expect(asked.diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
  expect(agent.forms).toEqual([]);
  expect([written().includes('write agent in V8'), written('secret')]).toEqual([false, []]);
  expect(await handedOver()).toBeGreaterThan(before);
});
