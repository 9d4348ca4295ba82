import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Postgres } from '../../src/store/postgres/database/connection.js';
import { needs } from '../support/needs.js';
import { until } from '../support/program.js';
import { AGENT, idOf, PERSON, type SharedHost, SharedHosts } from '../support/shared-hosts.js';

/** `CODEMODE_DRAINS=20`: how often a host is drained in a row. */
const ROUNDS = Number(process.env.CODEMODE_DRAINS ?? 1);

describe('a host that stops or cannot start', needs('postgresql', 'bubblewrap'), () => {
  let cluster: SharedHosts;
  beforeAll(async () => {
    cluster = await SharedHosts.open();
  }, 120_000);
  afterAll(() => cluster.close());

  test(
    'leaves a call in flight to the next host, where the program makes its other calls',
    async () => {
      let host = await cluster.start();
      for (let round = 1; round <= ROUNDS; round += 1) {
        const runId = await sentBy(host, round);
        expect(await host.stop(), host.log()).toBe(0);
        host = await cluster.start();
        await until(async () => (await resultOf(host, runId)).status === 200);
        // The next host tells the program that its call may have been made, and makes the calls that come after it.
        expect((await resultOf(host, runId)).body, `round ${round}`).toMatchObject({
          success: true,
          result: [expect.stringMatching(/may have taken effect/), 'look'],
        });
        const lines = cluster.ledger.filter((line) => line.endsWith(` ${round}`));
        expect(lines).toEqual([`write cut ${round}`, `look after ${round}`]);
      }
    },
    ROUNDS * 60_000,
  );

  test('ends when the database fails after it has begun to listen', async () => {
    await (await cluster.start()).stop();
    await withoutAddresses('INSERT', async () => {
      await expect(cluster.start()).rejects.toThrow(/a host ended with [1-9]/);
    });
  }, 30_000);

  test('drains although the database refuses to withdraw its address', async () => {
    const host = await cluster.start();
    await withoutAddresses('DELETE', async () => expect(await host.stop(), host.log()).toBe(0));
    expect(host.log()).toMatch(/address could not be withdrawn/);
  }, 30_000);

  /** While the database refuses this change to the table of the hosts' addresses. */
  async function withoutAddresses(change: 'INSERT' | 'DELETE', work: () => Promise<void>): Promise<void> {
    const database = await Postgres.open({ url: cluster.url });
    try {
      await database.query(`
        CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
        CREATE TRIGGER refuse BEFORE ${change} ON codemode.console_hosts FOR EACH ROW EXECUTE FUNCTION public.refuse()`);
      await work();
    } finally {
      await database.query('DROP FUNCTION public.refuse CASCADE');
      await database.close();
    }
  }

  /** A run whose approved call the server never answers. */
  async function sentBy(host: SharedHost, round: number): Promise<string> {
    const code = `
      const first = await mcp.ledger.write({ text: 'cut ${round}', delayMs: 600_000 }).catch((error) => error.message);
      return [first, (await mcp.ledger.look({ text: 'after ${round}' })).did];`;
    const runId = idOf(await host.request('POST', '/api/v1/execute', AGENT, { code, capabilities: ['mcp:ledger'] }));
    const { body } = await host.request('GET', '/api/v1/approvals', PERSON);
    const asked = (body.approvals as { id: string; runId: string }[]).find((each) => each.runId === runId);
    await host.request('POST', `/api/v1/approvals/${asked?.id}/approve`, PERSON, {});
    await until(() => cluster.ledger.includes(`write cut ${round}`));
    return runId;
  }

  const resultOf = (host: SharedHost, runId: string) => host.request('GET', `/api/v1/runs/${runId}/result`, AGENT);
});
