import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Postgres } from '../../src/store/postgres/database/connection.js';
import { MIGRATIONS } from '../../src/store/postgres/database/migrations.js';
import { needs } from '../support/needs.js';
import { NextBuild } from '../support/next-build.js';
import { PgBouncer } from '../support/pgbouncer.js';
import { until } from '../support/program.js';
import { AGENT, DESK, HASTY, idOf, PERSON, type SharedHost, SharedHosts } from '../support/shared-hosts.js';

interface Question {
  readonly id: string;
  readonly runId: string;
}

describe('requests go to any host', needs('postgresql', 'bubblewrap'), () => {
  let cluster: SharedHosts;
  let [first, second, third]: SharedHost[] = [];
  beforeAll(async () => {
    cluster = await SharedHosts.open({ profile: 'codemode' });
    // One after the other: a machine with two cores is busy with one.
    first = await cluster.start();
    second = await cluster.start();
    third = await cluster.start();
  }, 120_000);
  afterAll(() => cluster.close());

  const host = (which: SharedHost | undefined) => which as SharedHost;
  const execute = (at: SharedHost | undefined, code: string) =>
    host(at).request('POST', '/api/v1/execute', AGENT, { code, capabilities: ['mcp:ledger'] });
  const stateOf = async (at: SharedHost | undefined, runId: string) =>
    (await host(at).request('GET', `/api/v1/runs/${runId}`, AGENT)).body.state;
  const questionOf = async (at: SharedHost | undefined, runId: string) => {
    const { body } = await host(at).request('GET', '/api/v1/approvals', PERSON);
    return (body.approvals as readonly Question[]).find((each) => each.runId === runId)?.id ?? '';
  };

  const isIdle = async (at: SharedHost | undefined) =>
    /^codemode_workers\{kind="running"\} 0$/m.test(
      String((await host(at).request('GET', '/metrics', AGENT)).body.text),
    );

  test('a run is suspended on one host, approved on another and polled on a third', async () => {
    const asked = await execute(first, 'return (await mcp.ledger.write({ text: "one" })).did');
    expect(asked.status).toBe(202);
    const runId = idOf(asked);
    expect(await stateOf(third, runId)).toBe('suspended');
    const id = await questionOf(second, runId);
    expect((await host(second).request('POST', `/api/v1/approvals/${id}/approve`, PERSON, {})).status).toBe(200);
    await until(async () => (await host(third).request('GET', `/api/v1/runs/${runId}/result`, AGENT)).status === 200);
    const { body } = await host(third).request('GET', `/api/v1/runs/${runId}/result`, AGENT);
    expect(body).toMatchObject({ success: true, result: 'write' });
    expect(cluster.ledger).toEqual(['write one']);
  });

  test('the rate of a caller is what it calls through all hosts together', async () => {
    const code = `let made = 0;
      for (let call = 0; call < 12; call += 1)
        await mcp.ledger.look({ text: 'hasty' }).then(() => { made += 1; }, () => {});
      return made;`;
    const begunMs = performance.now();
    const answers = await Promise.all(
      [first, second, third].map((at) =>
        host(at).request('POST', '/api/v1/execute', HASTY, { code, capabilities: ['mcp:ledger'] }),
      ),
    );
    const passedS = (performance.now() - begunMs) / 1_000;
    const made = answers.map(({ body }) => body.result as number).reduce((sum, each) => sum + each);
    // Five at once and five a second, the default of the contract.
    expect(made).toBeGreaterThanOrEqual(5);
    expect(made).toBeLessThanOrEqual(5 + 5 * passedS);
  });

  test('a call that the database does not answer for is not made, and its program is told so', async () => {
    const database = await Postgres.open({ url: cluster.url });
    const before = cluster.ledger.length;
    const { body } = await database.transaction(async (sql) => {
      await sql.query('SET LOCAL idle_in_transaction_session_timeout = 0');
      await sql.query('LOCK TABLE codemode.rates');
      return execute(first, 'return mcp.ledger.look({ text: "locked" }).catch((error) => error.message)');
    });
    await database.close();
    expect(body.result).toMatch(/^ledger\.look was not called: a row of the database .* was locked for too long/);
    expect(cluster.ledger.length).toBe(before);
  });

  test('a run under way on one host is listed, polled and cancelled through another', async () => {
    const listedAt = async (at: SharedHost | undefined) => {
      const { body } = await host(at).request('GET', '/api/v1/runs', AGENT);
      return (body.runs as { runId: string; state: string; createdAt: string }[]).filter(
        ({ state }) => state === 'running',
      );
    };
    // Another host may list the run of an earlier test a little longer.
    await until(async () => (await listedAt(second)).length === 0);
    const answered = execute(first, 'await mcp.ledger.look({ text: "long", delayMs: 600_000 }); return 1');
    await until(async () => (await listedAt(second)).length === 1);
    const { runId = '', createdAt } = (await listedAt(second))[0] ?? {};
    expect(await listedAt(first)).toEqual(await listedAt(second));
    expect(await stateOf(third, runId)).toBe('running');
    expect((await host(third).request('GET', `/api/v1/runs/${runId}/result`, AGENT)).status).toBe(202);
    expect((await host(third).request('GET', `/api/v1/runs/${runId}`, DESK)).status).toBe(404);
    const cancelled = await host(second).request('POST', `/api/v1/runs/${runId}/cancel`, AGENT);
    expect(cancelled).toMatchObject({ status: 200, body: { runId, state: 'cancelled' } });
    expect((await answered).body).toMatchObject({ success: false });
    await until(async () => (await stateOf(third, runId)) === 'cancelled');
    // Also in the record of its end, which is written later, and for people.
    expect((await host(third).request('GET', `/api/v1/runs/${runId}`, AGENT)).body).toMatchObject({ createdAt });
    expect(JSON.parse((await cluster.run(['runs', 'show', runId, '--json'])).stdout)).toMatchObject({ createdAt });
  });

  test('a resumed run is cancelled through a host that does not have it, and stays so', async () => {
    const asked = await execute(
      first,
      'await mcp.ledger.write({ text: "slow", delayMs: 6_000 }); return mcp.ledger.look({ text: "after" })',
    );
    const runId = idOf(asked);
    const id = await questionOf(second, runId);
    await host(second).request('POST', `/api/v1/approvals/${id}/approve`, PERSON, {});
    await until(() => cluster.ledger.includes('write slow'));
    const { status, stdout } = await cluster.run(['runs', 'cancel', runId, '--json']);
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { state: 'cancelled' }]);
    const shown = async () => {
      const { state, updatedAt } = (await host(third).request('GET', `/api/v1/runs/${runId}`, AGENT)).body;
      return { state, updatedAt };
    };
    const before = await shown();
    expect(before.state).toBe('cancelled');
    // Its host gets the answer of the server, and may not use it.
    await until(async () => (await Promise.all([first, second, third].map(isIdle))).every((isOver) => isOver));
    expect(cluster.ledger).not.toContain('look after');
    expect(await shown()).toEqual(before);
  });

  test('a client of the newer protocol answers a form at another host than the one that asked', async () => {
    const [one, two] = [host(first).url, host(second).url];
    let requests = 0;
    const transport = new StreamableHTTPClientTransport(new URL(`${one}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${DESK}` } },
      // A balancer without stickiness: the next request goes to the other host.
      fetch: (url, init) => fetch(String(url).replace(one, requests++ % 2 === 0 ? one : two), init),
    });
    const client = new Client(
      { name: 'test', version: '0' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    let forms = 0;
    client.setRequestHandler('elicitation/create', () => {
      forms += 1;
      return { action: 'accept', content: { decision: 'approve' } } as never;
    });
    await client.connect(transport);
    const code = `import { write } from '@codemode/servers/ledger';
      globalThis.__codemode_result__ = (await write({ text: 'form' })).did;`;
    const answer = await client.callTool({ name: 'codemode_run', arguments: { code } });
    expect([forms, answer.structuredContent]).toMatchObject([1, { result: 'write' }]);
    expect(cluster.ledger.filter((line) => line === 'write form')).toHaveLength(1);
    await client.close();
  });

  test('a session of the older protocol is unknown to another host, which says 404', async () => {
    const transport = new StreamableHTTPClientTransport(new URL(`${host(first).url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${AGENT}` } },
    });
    const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(transport);
    const list = (at: SharedHost) =>
      fetch(`${at.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${AGENT}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': transport.sessionId ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
    expect((await list(host(first))).status).toBe(200);
    const refused = await list(host(second));
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining('send initialize again')]);
    await client.close();
  });

  test('every host tells which hosts are up, how old its lease is and how the queue stands', async () => {
    const { body } = await host(second).request('GET', '/metrics', AGENT);
    for (const line of [
      /^codemode_store_up 1$/m,
      /^codemode_store_hosts 3$/m,
      /^codemode_store_heartbeat_age_seconds [\d.]+$/m,
      /^codemode_store_connections\{state="open"\} \d+$/m,
      /^codemode_store_queue_jobs\{state="later"\} [1-9]\d*$/m,
      /^codemode_store_queue_lag_seconds [\d.]+$/m,
    ])
      expect(body.text).toMatch(line);
  });

  test('a host behind a transaction pooler suspends, decides and resumes', needs('pgbouncer'), async () => {
    const pooler = await PgBouncer.start(cluster.postgres.port);
    try {
      const store = pooler.url(await cluster.postgres.createDatabase());
      const pooled = await cluster.start({ store });
      const runId = idOf(await execute(pooled, 'return (await mcp.ledger.write({ text: "pooled" })).did'));
      const id = await questionOf(pooled, runId);
      await pooled.request('POST', `/api/v1/approvals/${id}/approve`, PERSON, {});
      await until(async () => (await pooled.request('GET', `/api/v1/runs/${runId}/result`, AGENT)).status === 200);
      // It knows that it must poll.
      const { stdout } = await cluster.run(['store', '--json'], { CODEMODE_STORE: store });
      expect(JSON.parse(stdout)).toMatchObject({ isListening: false });
      expect(cluster.ledger.filter((line) => line === 'write pooled')).toHaveLength(1);
      expect(await pooled.stop()).toBe(0);
    } finally {
      pooler.close();
    }
  });

  test('two builds serve at once, and each resumes what the other has suspended', async () => {
    using build = new NextBuild();
    const newer = await cluster.start({ program: build.program });
    await host(second).stop();
    await host(third).stop();
    const code = (name: string) =>
      `const seen = (await mcp.ledger.look({ text: '${name}' })).did; return [seen, (await mcp.ledger.write({ text: '${name}' })).did]`;
    const ofOlder = idOf(await execute(first, code('older')));
    const ofNewer = idOf(await execute(newer, code('newer')));
    const questions = [await questionOf(newer, ofOlder), await questionOf(first, ofNewer)];
    // Each is left to the other build.
    const endOf = async (at: SharedHost, runId: string, question: string | undefined) => {
      await at.request('POST', `/api/v1/approvals/${question}/approve`, PERSON, {});
      await until(async () => (await at.request('GET', `/api/v1/runs/${runId}/result`, AGENT)).status === 200);
      return (await at.request('GET', `/api/v1/runs/${runId}/result`, AGENT)).body;
    };
    await host(first).stop();
    expect(await endOf(newer, ofOlder, questions[0])).toMatchObject({ success: true, result: ['look', 'write'] });
    const older = await cluster.start();
    first = older;
    await newer.stop();
    expect(await endOf(older, ofNewer, questions[1])).toMatchObject({ success: true, result: ['look', 'write'] });
    // Rebuilt from its journal: what was called before is not called again.
    for (const line of ['look older', 'write older', 'look newer', 'write newer'])
      expect(cluster.ledger.filter((each) => each === line)).toEqual([line]);
    expect((await cluster.run(['store'])).stdout).toMatch(new RegExp(`^schema +${MIGRATIONS.length + 1} `, 'm'));
    expect((await cluster.run(['audit', 'verify'])).status).toBe(0);
  }, 120_000);

  test('a host that drains hands over what it holds, and says that it is not ready', async () => {
    const last = await cluster.start();
    await host(second).stop();
    await host(third).stop();
    await host(first).stop();
    const asked = await execute(last, 'return (await mcp.ledger.write({ text: "cut", delayMs: 600_000 })).did');
    const runId = idOf(asked);
    const id = await questionOf(last, runId);
    await last.request('POST', `/api/v1/approvals/${id}/approve`, PERSON, {});
    await until(() => cluster.ledger.includes('write cut'));
    const stopped = last.stop();
    await until(async () => (await last.request('GET', '/readyz')).status === 503);
    expect((await last.request('GET', '/readyz')).body).toEqual({
      status: 'not ready',
      reason: 'it is starting or stopping',
    });
    expect(await stopped).toBe(0);
    // Free at once, and not only when the lease of its host has expired.
    const shown = await cluster.run(['runs', 'show', runId, '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ state: 'suspended' });
    const next = await cluster.start();
    // The call may have been made: the other host tells the program, and does not make it again.
    await until(async () => (await next.request('GET', `/api/v1/runs/${runId}/result`, AGENT)).status === 200);
    const { body } = await next.request('GET', `/api/v1/runs/${runId}/result`, AGENT);
    expect(body).toMatchObject({ success: false, error: { message: expect.stringMatching(/may have taken effect/) } });
    expect(cluster.ledger.filter((line) => line === 'write cut')).toHaveLength(1);

    await cluster.postgres.stop();
    await until(async () => (await next.request('GET', '/readyz')).status === 503);
    expect((await next.request('GET', '/readyz')).body).toEqual({
      status: 'not ready',
      reason: 'the database does not answer',
    });
    expect((await next.request('GET', '/healthz')).status).toBe(200);
    await cluster.postgres.start();
    await until(async () => (await next.request('GET', '/readyz')).status === 200);
  }, 120_000);
});
