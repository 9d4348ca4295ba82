import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Random } from '../../../test/fuzz/random.js';
import { openProxy } from '../../../test/support/breakable-proxy.js';
import { needs } from '../../../test/support/needs.js';
import { PostgresServer } from '../../../test/support/postgres.js';
import { CallerQuotas, DEFAULT_QUOTAS } from '../../domain/quotas.js';
import type { RunLease, RunStore } from '../runs.js';
import { endedRun, suspendedRun } from '../runs.suite.test-support.js';
import { Postgres } from './database/connection.js';
import { openPostgresStore } from './store.js';

const SEEDS = [1, 2];
const HOSTS = 3;
const RUNS = 12;
const MAX_RESUMING = 4;
const LEASE_MS = 300;
const FAULTS_MS = 3_000;
/** What an answer of the database is recognized by, where it is the one that gets lost. */
const ANSWERS = ['COMMIT', 'UPDATE 1', 'INSERT 0 1'];

/** Every run makes one call. What reached the server, and what the program heard. */
interface World {
  readonly sent: string[];
  readonly random: Random;
  isOver: boolean;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('hosts that lose their database at random', needs('postgresql'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-cut-'));
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(SEEDS)('make each call at most once and end each run once (seed %i)', async (seed) => {
    const database = await server.createDatabase();
    const admin = await Postgres.open({ url: server.url(database) });
    const world: World = { sent: [], random: new Random(seed), isOver: false };
    const hosts = await Promise.all(
      Array.from({ length: HOSTS }, async () => {
        const proxy = await openProxy(new URL(`http://127.0.0.1:${server.port}`));
        const store = openPostgresStore({
          url: `postgres://codemode@127.0.0.1:${new URL(proxy.url).port}/${database}?sslmode=disable`,
          ...{ leaseMs: LEASE_MS, stateFolder: folder, key: async () => new Uint8Array(32).fill(5) },
          quotas: new CallerQuotas(DEFAULT_QUOTAS),
        });
        // On a loaded machine the first heartbeat can take longer than a third of so short a lease.
        return { proxy, store, runs: await vi.waitFor(() => store.runs(), { timeout: 20_000 }) };
      }),
    );
    try {
      await admin.query(WITNESS);
      const ids = Array.from({ length: RUNS }, (_, number) => `run ${String.fromCodePoint(97 + number)}`);
      for (const id of ids) await hosts[0]?.runs.suspend(suspendedRun(id), 1_000);
      const working = hosts.map(({ runs }) => work(runs, world));
      for (const until = Date.now() + FAULTS_MS; Date.now() < until; ) {
        const { proxy } = world.random.pick(hosts);
        if (world.random.chance(3)) proxy.lose(world.random.pick(ANSWERS));
        else proxy.cut();
        await pause(world.random.below(2 * LEASE_MS));
        proxy.mend();
      }
      for (const { proxy } of hosts) proxy.mend();
      const left = async () => (await admin.query("SELECT 1 FROM codemode.runs WHERE state = 'suspended'")).length;
      while ((await left()) > 0) {
        for (const { proxy } of hosts) proxy.mend();
        await pause(50);
      }
      world.isOver = true;
      await Promise.all(working);
      expect(world.sent.filter((id, index) => world.sent.indexOf(id) !== index)).toEqual([]);
      const ends = await admin.query<{ run: string }>('SELECT run FROM witness.ends ORDER BY run');
      expect(ends.map(({ run }) => run)).toEqual(ids);
      const outcomes = await Promise.all(ids.map((id) => hosts[0]?.runs.responseOf({ id, caller: 'ana' })));
      const done = ids.filter((_, index) => outcomes[index] === '"done"');
      expect(done.filter((id) => !world.sent.includes(id))).toEqual([]);
      expect(new Set(outcomes)).toEqual(new Set(['"done"', ...outcomes.filter((each) => each === '"unknown"')]));
    } finally {
      world.isOver = true;
      await Promise.all(hosts.map(({ store }) => store.close()));
      for (const { proxy } of hosts) proxy.close();
      await admin.close();
    }
  });
});

/** Resumes runs as a host does, until all have ended. */
async function work(runs: RunStore, world: World): Promise<void> {
  while (!world.isOver) {
    try {
      const found = await runs.resumable(RUNS);
      await Promise.all(found.slice(0, MAX_RESUMING).map(({ id }) => tryResume(runs, id, world)));
    } catch {
      // The database is out of reach: it is tried again below.
    }
    await pause(10);
  }
}

async function tryResume(runs: RunStore, id: string, world: World): Promise<void> {
  const lease = await runs.claim(id);
  if (lease === undefined) return;
  try {
    await resume(runs, lease, world);
  } catch {
    await runs.release(lease);
  }
}

async function resume(runs: RunStore, lease: RunLease, { sent, random }: World): Promise<void> {
  const opened = await runs.open(lease.runId);
  if (opened === undefined) throw new Error(`run ${lease.runId} cannot be opened`);
  const { calls, deliveries } = opened.sinceThen;
  let outcome = deliveries[0];
  if (outcome === undefined && calls.some(({ isSent }) => isSent)) {
    outcome = '"unknown"';
    await runs.delivered(lease, 0, outcome);
  } else if (outcome === undefined) {
    await runs.callMade(lease, 1, '{}');
    await pause(random.below(3 * LEASE_MS));
    await runs.callSent(lease, 1, '{}');
    sent.push(lease.runId);
    await pause(random.below(3 * LEASE_MS));
    outcome = '"done"';
    await runs.delivered(lease, 0, outcome);
  }
  const lost = await runs.end([endedRun(lease.runId, { lease, responseJson: outcome })], 2_000);
  if (lost.length > 0) throw new Error('another host has ended it');
}

const WITNESS = `
  CREATE SCHEMA witness;
  CREATE TABLE witness.ends (run text NOT NULL);
  CREATE FUNCTION witness.note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.state <> 'suspended' THEN INSERT INTO witness.ends VALUES (NEW.id); END IF;
      RETURN NULL;
    END $$;
  CREATE TRIGGER witness AFTER INSERT OR UPDATE ON codemode.runs FOR EACH ROW EXECUTE FUNCTION witness.note();`;
