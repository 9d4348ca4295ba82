import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProxy } from '../../../test/support/breakable-proxy.js';
import { needs } from '../../../test/support/needs.js';
import { PATIENT, PostgresServer } from '../../../test/support/postgres.js';
import { CallerQuotas, DEFAULT_QUOTAS } from '../../domain/quotas.js';
import type { CallerId } from '../../domain/run.js';
import { SuspendedRuns } from '../../host/runs/suspended-runs.js';
import type { RunLease, RunStore } from '../runs.js';
import { endedRun, suspendedRun } from '../runs.suite.test-support.js';
import { administer } from './database/administer.js';
import { Postgres } from './database/connection.js';
import { HostLease } from './host-lease.js';
import { openPostgresStore } from './store.js';

const LEASE_MS = 600;
const folder = mkdtempSync(join(tmpdir(), 'codemode-leases-'));

describe('hosts that share runs', needs('postgresql'), () => {
  let server: PostgresServer;
  let admin: Postgres;
  let database: string;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    server = await PostgresServer.start();
    database = await server.createDatabase();
    admin = await Postgres.open({ url: server.url(database), ...PATIENT });
  });
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
    await admin.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (url = server.url(database), suspended = DEFAULT_QUOTAS.suspended): Promise<RunStore> => {
    const store = openPostgresStore({
      ...{ url, leaseMs: LEASE_MS, stateFolder: folder, key: async () => new Uint8Array(32).fill(5) },
      quotas: new CallerQuotas({ ...DEFAULT_QUOTAS, suspended }),
    });
    closing.push(() => store.close());
    return store.runs();
  };
  /** A host whose line to the database can be cut. */
  const openBehindProxy = async (suspended?: number) => {
    const proxy = await openProxy(new URL(`http://127.0.0.1:${server.port}`));
    closing.push(() => proxy.close());
    const url = `postgres://codemode@127.0.0.1:${new URL(proxy.url).port}/${database}?sslmode=disable`;
    return { runs: await open(url, suspended), proxy };
  };
  const claimed = async (runs: RunStore, id: string): Promise<RunLease> => {
    for (;;) {
      const lease = await runs.claim(id);
      if (lease !== undefined) return lease;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  test('a host that was cut off writes nothing about a run that another host has taken', async () => {
    const { runs, proxy } = await openBehindProxy();
    const other = await open();
    await runs.suspend(suspendedRun('taken'), 1_000);
    const lease = await claimed(runs, 'taken');
    proxy.cut();
    const theirs = await claimed(other, 'taken');
    proxy.mend();
    const late = { code: 'lease_lost' };
    await expect(runs.callMade(lease, 1, '{}')).rejects.toMatchObject(late);
    await expect(runs.callSent(lease, 1, '{}')).rejects.toMatchObject(late);
    await expect(runs.delivered(lease, 1, '{}')).rejects.toMatchObject(late);
    await expect(runs.suspend(suspendedRun('taken', { lease }), 2_000)).rejects.toMatchObject(late);
    expect(await runs.end([endedRun('taken', { lease })], 2_000)).toEqual(['taken']);
    expect((await other.open('taken'))?.sinceThen).toEqual({ calls: [], deliveries: [] });
    expect(await other.end([endedRun('taken', { lease: theirs })], 3_000)).toEqual([]);
  });

  test('a host that could not renew its lease sends no call', async () => {
    const { runs, proxy } = await openBehindProxy();
    const other = await open();
    await runs.suspend(suspendedRun('uncertain'), 1_000);
    const lease = await claimed(runs, 'uncertain');
    proxy.cut();
    while ((await other.find('uncertain'))?.isHeld) await new Promise((resolve) => setTimeout(resolve, 20));
    // It does not have to ask: by its own clocks the lease is over.
    await expect(runs.callSent(lease, 1, '{}')).rejects.toMatchObject({ code: 'lease_lost' });
  });

  test('work after a heartbeat that takes long does not cost the lease', async () => {
    const postgres = await Postgres.open({ url: server.url(database) });
    closing.push(() => postgres.close());
    const host = await HostLease.begin(postgres, { leaseMs: LEASE_MS });
    const expiry = async () => {
      const [row] = await admin.query<{ at: Date }>('SELECT expires_at AS at FROM codemode.hosts WHERE id = $1', [
        host.id,
      ]);
      return row?.at.getTime() ?? 0;
    };
    const begun = new Promise<number>((resolve) => {
      host.onBeat(() => {
        resolve(expiry());
        return new Promise(() => {});
      });
    });
    const before = await begun;
    while ((await expiry()) < before + 2 * LEASE_MS) await new Promise((resolve) => setTimeout(resolve, 20));
    // A beat that comes late on a loaded machine is no lost lease.
    await expect.poll(() => host.isCertain).toBe(true);
    await host.close();
    expect(host.isCertain).toBe(false);
  });

  test('a run that was stored without an answer stays stored when the quota is full', async () => {
    const bytes = 600;
    const { runs, proxy } = await openBehindProxy(bytes);
    const other = await open();
    const caller = 'bob';
    const program = Buffer.alloc(bytes / 2);
    proxy.lose('COMMIT');
    const suspending = Promise.resolve(runs.suspend(suspendedRun('unanswered', { caller, program }), 1_000));
    while ((await other.find('unanswered')) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    // Another host fills the quota before the first one can try again.
    await other.suspend(suspendedRun('room', { caller, program }), 1_000);
    proxy.mend();
    await suspending;
    await expect(runs.suspend(suspendedRun('more', { caller, program }), 1_000)).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
  });

  test('a run whose end cannot be written is given up, and another host ends it', async () => {
    const role = `limited_${process.pid}`;
    await server.administer(`CREATE ROLE ${role} LOGIN`);
    const administration = await administer({ url: server.url(database), key: async () => new Uint8Array(32).fill(5) });
    await administration.migrate({ grantTo: role });
    await administration.close();
    const runs = await open(server.url(database, { user: role }));
    const other = await open();
    await runs.suspend(suspendedRun('unwritten'), 1_000);
    const lease = await claimed(runs, 'unwritten');
    await admin.query(`REVOKE INSERT ON codemode.runs FROM ${role}`);
    const suspended = new SuspendedRuns({ store: async () => runs, approvals: {} as never, setting: '' });
    const owner = {
      id: 'unwritten',
      createdAtMs: 1_000,
      caller: 'ana' as CallerId,
      profile: 'codemode',
      codeDigest: 'c0de',
    };
    await suspended.recordEnd(owner, 'succeeded', null, undefined, undefined, lease);
    expect((await other.claim('unwritten'))?.fence).toBe(lease.fence + 1);
  });

  test('a run that could not be resumed several times is tried again with the next heartbeat', async () => {
    const runs = await open();
    await runs.suspend(suspendedRun('tried'), 1_000);
    let tries = 0;
    // The library would wait for minutes before the ninth.
    await new Promise<void>((resolve) => {
      closing.push(
        runs.watch({
          room: 1,
          canTake: ({ id }) => id === 'tried',
          take: async () => {
            tries += 1;
            if (tries < 9) throw new Error('the database was out of reach');
            resolve();
            return true;
          },
        }),
      );
    });
    expect(tries).toBe(9);
  }, 60_000);
});
