import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Postgres } from '../../src/store/postgres/database/connection.js';
import { needs } from '../support/needs.js';
import { until } from '../support/program.js';
import { AGENT, idOf, PERSON, type SharedHost, SharedHosts } from '../support/shared-hosts.js';

/** What a terminal would act upon, and no time that a calendar knows. */
const ESCAPE = '\\x1b[2J\\x07evil';
const NEVER = '9000000000000000000';

/** Rows of somebody who may write to the database and has no key, in every table that hosts read. */
const PLANTED = [
  `INSERT INTO codemode.runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, duration_ms, title, response, recording, is_ready)
    SELECT 'planted-' || s, caller, E'${ESCAPE}', E'${ESCAPE}', 'x', s, ${NEVER}, -${NEVER}, 'NaN', 'x', 'x', 'x', true
    FROM (SELECT DISTINCT caller FROM codemode.runs) AS callers, unnest(ARRAY['suspended', 'succeeded', 'failed', 'cancelled']) AS s`,
  `INSERT INTO codemode.run_calls SELECT 'planted-suspended', n, 'sent', 'x' FROM generate_series(-2147483648, -2147483640) AS n`,
  `INSERT INTO codemode.run_deliveries VALUES ('planted-suspended', -1, 'x')`,
  `INSERT INTO codemode.hosts VALUES (E'${ESCAPE}', E'${ESCAPE}', '-infinity', 'infinity')`,
  `INSERT INTO codemode.approvals (id, run, call, caller, server, server_fingerprint, tool, tool_digest, arguments, arguments_digest, reason, state, created_at, expires_at)
    SELECT 'planted-' || s, 'planted-suspended', -1, caller, 'ledger', '', E'${ESCAPE}', '', 'x', '', E'${ESCAPE}', s, ${NEVER}, ${NEVER}
    FROM (SELECT DISTINCT caller FROM codemode.runs) AS callers, unnest(ARRAY['PENDING', 'APPROVED', 'DENIED', 'EXPIRED']) AS s`,
  `INSERT INTO codemode.live_runs SELECT 'planted-live', id, 'x', E'${ESCAPE}', ${NEVER}, 'x' FROM codemode.hosts LIMIT 1`,
  `INSERT INTO codemode.clients VALUES (E'${ESCAPE}', E'${ESCAPE}', E'${ESCAPE}', 'x', 'x', ${NEVER}, -${NEVER})`,
  `INSERT INTO codemode.audit (chain, number, at_ms, run_id, caller, profile, code_digest, server_id, tool_name, arguments_digest, duration_ms, verdict, approval, redactions, call_id, hash, mac)
    VALUES ('planted', ${NEVER}, ${NEVER}, 'planted', 'x', E'${ESCAPE}', '', E'${ESCAPE}', E'${ESCAPE}', '', 'NaN', 'no verdict', '{', '[', 'x', '', '')`,
  `INSERT INTO codemode.audit_anchors VALUES (${NEVER}, ${NEVER}, '{', '', '')`,
  `INSERT INTO codemode.scripts VALUES (E'${ESCAPE}', 'x', 'x')`,
  `INSERT INTO codemode.sealed_values VALUES ('observed types', 'x'), ('catalog ledger', 'x') ON CONFLICT (name) DO UPDATE SET sealed = 'x'`,
  `INSERT INTO codemode.rates VALUES ('x', 'NaN', 'infinity')`,
  `INSERT INTO codemode.console_sessions VALUES ('x', 'x', 'x', 'owner', E'${ESCAPE}', 'x', 'x', ${NEVER}, ${NEVER}, ${NEVER}, 'x')`,
  `INSERT INTO codemode.console_hosts VALUES (E'${ESCAPE}', 'javascript:alert(1)', ${NEVER}, 'x')`,
  `INSERT INTO codemode.undone VALUES ('planted-succeeded', ${NEVER}, 'x')`,
  ...['resume_run', 'expire_approvals', 'clean_up', 'no_task'].flatMap((task) =>
    ['null', '[7]', '{"run":7,"caller":7}', `{"run":"planted-suspended","caller":"../.."}`].map(
      (payload) => `SELECT codemode_queue.add_job('${task}', '${payload}')`,
    ),
  ),
];

describe('somebody who writes to the database of hosts and has no key', needs('postgresql', 'bubblewrap'), () => {
  let cluster: SharedHosts;
  let host: SharedHost;
  let database: Postgres;
  let waiting = '';
  beforeAll(async () => {
    cluster = await SharedHosts.open();
    host = await cluster.start();
    database = await Postgres.open({ url: cluster.url });
    waiting = idOf(await execute('return (await mcp.ledger.write({ text: "one" })).did'));
    for (const statement of PLANTED) await database.query(statement);
  }, 120_000);
  afterAll(async () => {
    await database?.close();
    await cluster?.close();
  });

  test('ends no list with times that are none, and no host', async () => {
    const paths = [
      ['/api/v1/runs', AGENT],
      ['/api/v1/runs/planted-succeeded', AGENT],
      ['/api/v1/approvals', PERSON],
      ['/metrics', AGENT],
      ['/readyz', AGENT],
    ] as const;
    const answers = await Promise.all(paths.map(([path, token]) => host.request('GET', path, token)));
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
    const runs = answers[0]?.body.runs as readonly { runId: string }[] | undefined;
    expect(runs?.map(({ runId }) => runId)).toContain(waiting);
  });

  test('writes nothing to a terminal, and has its records named by verify', async () => {
    for (const [words, expected] of [
      [['runs'], 0],
      [['runs', 'show', 'planted-succeeded'], 0],
      [['approvals'], 0],
      [['audit'], 0],
      [['store'], 0],
      [['audit', 'verify'], 1],
    ] as const) {
      const { status, stdout, stderr } = await cluster.run(words);
      expect([words.join(' '), status, stderr]).toEqual([words.join(' '), expected, '']);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f]/);
    }
    await database.query('DELETE FROM codemode.audit_anchors WHERE number > 1000000');
    expect((await cluster.run(['audit', 'verify'])).stdout).toContain('no host has begun the chain planted');
  }, 60_000);

  test('gets no call made by approving it, nor by taking the run as a host of its own', async () => {
    await database.query(
      `UPDATE codemode.approvals SET state = 'APPROVED', decided_by = 'me', decided_at = 1 WHERE run = $1`,
      [waiting],
    );
    await database.query(
      `UPDATE codemode.runs SET lease_owner = 'liar', fence = fence + 1, is_ready = true WHERE id = $1`,
      [waiting],
    );
    await database.query(
      `INSERT INTO codemode.hosts (id, name, expires_at) VALUES ('liar', 'host1', now() + interval '1 hour')`,
    );
    const [row] = await database.query<{ facts: string }>(
      `SELECT concat(program, context, title, response, recording) AS facts FROM codemode.runs WHERE id = $1`,
      [waiting],
    );
    expect(Buffer.from(String(row?.facts).replaceAll('\\x', ''), 'hex').toString('latin1')).not.toMatch(/ledger|write/);
    // It goes, and what it claims of the approval is not believed by the host that resumes the run.
    await database.query(`DELETE FROM codemode.hosts WHERE id = 'liar'`);
    await until(async () => (await stateOf()) !== 'running');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(cluster.ledger).toEqual([]);
  }, 60_000);

  test('has a run refused that it moved to another contract', async () => {
    const asked = await execute('return (await mcp.ledger.write({ text: "moved" })).did');
    const runId = idOf(asked);
    await database.query(`UPDATE codemode.runs SET profile = 'codemode' WHERE id = $1`, [runId]);
    const { approvals } = (asked.body.error as { details: { approvals: { id: string }[] } }).details;
    const approved = await host.request('POST', `/api/v1/approvals/${approvals[0]?.id}/approve`, PERSON, {});
    expect(approved.status).toBe(200);
    const result = () => host.request('GET', `/api/v1/runs/${runId}/result`, AGENT);
    await until(async () => (await result()).status === 200);
    expect(JSON.stringify((await result()).body)).toContain('the stored state of this run was modified');
    expect(cluster.ledger).toEqual([]);
  });

  const execute = (code: string) =>
    host.request('POST', '/api/v1/execute', AGENT, { code, capabilities: ['mcp:ledger'] });
  const stateOf = async () => (await host.request('GET', `/api/v1/runs/${waiting}`, AGENT)).body.state;
});
