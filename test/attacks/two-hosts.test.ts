import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.js';
import { until } from '../support/program.js';
import { AGENT, DESK, idOf, PERSON, type SharedHost, SharedHosts } from '../support/shared-hosts.js';

interface Question {
  readonly id: string;
  readonly runId: string;
  readonly tool: string;
}

/** `erase` is a tool of the client itself; `write` is one of programs. Both need a person. */
const CONFIG = { profile: 'codemode', defaults: { codeMode: { excludedTools: ['erase'] } } };
const PLACES = [
  ['a PostgreSQL', () => SharedHosts.open(CONFIG)],
  ['a state folder', async () => SharedHosts.onOneFolder(CONFIG)],
] as const;

describe.each(PLACES)('two hosts that share %s', needs('postgresql', 'bubblewrap'), (_place, open) => {
  let cluster: SharedHosts;
  let hosts: SharedHost[] = [];
  beforeAll(async () => {
    cluster = await open();
    hosts = [await cluster.start(), await cluster.start()];
  }, 120_000);
  afterAll(() => cluster?.close());

  const at = (which: number) => hosts[which % 2] as SharedHost;
  const execute = (which: number, token: string, code: string) =>
    at(which).request('POST', '/api/v1/execute', token, { code, capabilities: ['mcp:ledger'] });
  const write = (which: number, token: string, text: string) =>
    execute(which, token, `return (await mcp.ledger.write({ text: "${text}" })).did`);
  const pending = async (which: number) =>
    (await at(which).request('GET', '/api/v1/approvals', PERSON)).body.approvals as readonly Question[];
  const decide = async (which: number, id: string, verb: string, body: object = {}) =>
    (await at(which).request('POST', `/api/v1/approvals/${id}/${verb}`, PERSON, body)).status;
  const made = (line: string) => cluster.ledger.filter((each) => each === line).length;
  const hasEnded = async (runId: string) => {
    const { body } = await at(0).request('GET', `/api/v1/runs/${runId}`, AGENT);
    return body.state === 'succeeded' || body.state === 'failed';
  };

  async function direct(which: number, token: string): Promise<Client> {
    const transport = new StreamableHTTPClientTransport(new URL(`${at(which).url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(transport);
    return client;
  }

  test('make a direct call once for one yes, though each is asked for it four times at once', async () => {
    const clients = [await direct(0, AGENT), await direct(1, AGENT)];
    const call = async (which: number) =>
      (await (clients[which % 2] as Client).callTool({ name: 'erase', arguments: { text: 'direct' } })).isError !==
      true;
    expect(await call(0)).toBe(false);
    const id = (await pending(1)).find(({ tool }) => tool === 'ledger/erase')?.id ?? '';
    expect(await decide(1, id, 'approve')).toBe(200);
    const calls = await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(call));
    expect([calls.filter((isMade) => isMade).length, made('erase direct')]).toEqual([1, 1]);
    await Promise.all(clients.map((client) => client.close()));
  });

  test('carry out the first of two opposite decisions, once', async () => {
    for (const round of [0, 1, 2, 3]) {
      const runId = idOf(await write(round, AGENT, `race ${round}`));
      const id = (await pending(round + 1)).find((each) => each.runId === runId)?.id ?? '';
      const statuses = await Promise.all(
        ['approve', 'deny', 'deny', 'approve'].map((verb, index) => decide(round + index, id, verb)),
      );
      await until(() => hasEnded(runId));
      const { body } = await at(round).request('GET', `/api/v1/runs/${runId}/result`, AGENT);
      const isApproved = body.success === true;
      expect(made(`write race ${round}`)).toBe(isApproved ? 1 : 0);
      // A decision that came too late is refused, unless it says the same.
      const [yes, no, noAgain, yesAgain] = statuses;
      const refused = isApproved ? [no, noAgain] : [yes, yesAgain];
      expect(refused).toEqual([409, 409]);
    }
  }, 60_000);

  test('refuse a card with other arguments, and keep a grant to its caller', async () => {
    const runId = idOf(await write(0, AGENT, 'shown'));
    const id = (await pending(1)).find((each) => each.runId === runId)?.id ?? '';
    expect(await decide(1, id, 'approve', { digest: 'f'.repeat(64) })).toBe(409);
    expect(made('write shown')).toBe(0);
    expect(await decide(1, id, 'approve', { scope: 'hour' })).toBe(200);
    await until(() => made('write shown') === 1);
    expect((await write(1, AGENT, 'granted')).body).toMatchObject({ result: 'write' });
    expect((await write(0, DESK, 'not granted')).status).toBe(202);
    expect(made('write not granted')).toBe(0);
  });
});
