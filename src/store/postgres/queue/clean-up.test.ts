import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../../test/support/needs.js';
import { PostgresServer } from '../../../../test/support/postgres.js';
import { CallerQuotas, DEFAULT_QUOTAS } from '../../../domain/quotas.js';
import type { Postgres } from '../database/connection.js';
import { openDatabase } from '../database/open-database.js';
import { cleanUp } from './clean-up.js';
import { expireApprovals } from './close-approvals.js';
import { addLostJobs } from './lost-jobs.js';
import { queueState } from './queue.js';

describe('what a host cleans up for all', needs('postgresql'), () => {
  let server: PostgresServer;
  let postgres: Postgres;
  beforeAll(async () => {
    server = await PostgresServer.start();
    postgres = await openDatabase({ url: server.url(await server.createDatabase()) }, new Uint8Array(32));
  });
  afterAll(async () => {
    await postgres.close();
    await server.close();
  });

  const addRun = (id: string, state: string, createdAt: number) =>
    postgres.change(
      `INSERT INTO codemode.runs (id, caller, profile, setting, code_digest, state, created_at, updated_at)
        VALUES ($1, 'ana', 'codemode', '', '', $2, $3, $3)`,
      [id, state, createdAt],
    );
  const ids = async (where: string) =>
    (await postgres.query<{ id: string }>(`SELECT id FROM codemode.runs WHERE ${where} ORDER BY id`)).map(
      ({ id }) => id,
    );

  test('the oldest ended runs of a caller beyond its quota, and no suspended one', async () => {
    for (const at of [1, 2, 3, 4]) await addRun(`ended-${at}`, 'succeeded', at);
    await addRun('waits', 'suspended', 0);
    const quotas = new CallerQuotas({ ...DEFAULT_QUOTAS, history: 2 });
    await cleanUp(postgres, quotas, { caller: 'ana' });
    expect(await ids('true')).toEqual(['ended-3', 'ended-4', 'waits']);
    await expect(cleanUp(postgres, quotas, { caller: 7 })).rejects.toThrow(/expected string/);
  });

  test('what hosts that are gone left behind, and runs that were written past us', async () => {
    await postgres.query(
      `INSERT INTO codemode.hosts (id, name, expires_at) VALUES ('up', 'up', now() + interval '1 minute'), ('gone', 'gone', now() - interval '2 days')`,
    );
    await postgres.query(
      `INSERT INTO codemode.live_runs (id, host, caller, profile, started_at, facts) VALUES ('a', 'up', '', '', 0, ''), ('b', 'gone', '', '', 0, '')`,
    );
    await postgres.query(
      `INSERT INTO codemode.sealed_values (name, sealed, saved_at) VALUES ('result old', '', now() - interval '2 days'), ('result new', '', now()), ('access token', '', now() - interval '2 days')`,
    );
    expect(await ids('is_ready')).toEqual([]);
    await cleanUp(postgres, new CallerQuotas(), {});
    expect(await ids('is_ready')).toEqual(['waits']);
    const names = async (table: string, column: string) =>
      (await postgres.query<{ name: string }>(`SELECT ${column} AS name FROM codemode.${table} ORDER BY 1`)).map(
        ({ name }) => name,
      );
    expect(await names('hosts', 'id')).toEqual(['up']);
    expect(await names('live_runs', 'id')).toEqual(['a']);
    expect(await names('sealed_values', 'name')).toEqual(['access token', 'result new']);
  });

  test('more approvals than the database has locks for expire, and a lost job is created again', async () => {
    const open = async () =>
      (await postgres.query<{ count: number }>(`SELECT count(*) FROM codemode.approvals WHERE state = 'PENDING'`))[0];
    await postgres.query(
      `INSERT INTO codemode.approvals (id, run, call, caller, server, server_fingerprint, tool, tool_digest, arguments, arguments_digest,
          reason, state, created_at, expires_at)
        SELECT 'q' || n, 'r' || n, 0, 'ana', 's', '', 't', '', '', '', '', 'PENDING', 1, 2 FROM generate_series(1, 10000) AS n`,
    );
    await addLostJobs(postgres);
    expect(await queueState(postgres)).toMatchObject({ ready: 1, later: 1 });
    expect(await expireApprovals(postgres)).toBe(10_000);
    expect(await open()).toEqual({ count: 0 });
  }, 60_000);
});
