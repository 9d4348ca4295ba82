import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Postgres } from '../../src/store/postgres/database/connection.js';
import { needs, ROOT, requires } from '../support/needs.js';
import { Cluster, type ClusterHost } from './cluster.js';
import { Gates } from './gates.js';
import { HeldRuns, PLACES, type Place } from './held-runs.js';
import { type Outcome, violations } from './invariants.js';
import { installWitness, POLICY, Workload } from './workload.js';

const SETTLE_MS = 60_000;
const TEST_MS = 180_000;

/** What the program of a run hears of its call after its host was lost at this place, and how often the server got the call. */
type Expected = Readonly<Record<Place, readonly [outcome: Outcome | undefined, calls: number]>>;

const WRITTEN: Expected = {
  store: ['done', 1],
  suspended: ['done', 1],
  decide: ['done', 1],
  claim: ['done', 1],
  made: ['done', 1],
  sent: ['unknown', 0],
  answer: ['unknown', 1],
  delivered: ['done', 1],
  end: ['done', 1],
};
const LOST: Expected = {
  ...WRITTEN,
  // The host had not stored it yet, so it ends with its host.
  store: [undefined, 0],
  // The call is not on record as sent, so it was not sent; the answer is not on record, so nobody knows.
  sent: ['done', 1],
  delivered: ['unknown', 1],
};

const OPTIONS = { ...requires(ROOT), ...needs('postgresql', 'iproute'), timeout: TEST_MS };

describe('a host that is lost at any step of a run', OPTIONS, () => {
  let cluster: Cluster;
  let gates: Gates;
  let workload: Workload;
  let first: ClusterHost;
  let second: ClusterHost;
  beforeAll(async () => {
    cluster = await Cluster.open({ hosts: 2, lease: '2s', config: POLICY });
    [first, second] = cluster.hosts as [ClusterHost, ClusterHost];
    await first.start();
    await installWitness(cluster);
    gates = await Gates.install(cluster);
    workload = new Workload(cluster, { deniesEvery: Number.MAX_SAFE_INTEGER });
  });
  afterAll(async () => {
    await gates?.close();
    await cluster?.close();
  });

  /** What the programs of these runs heard and the server got, once all runs have ended. */
  const outcomeOf = async (held: HeldRuns): Promise<unknown> => {
    await workload.settle(SETTLE_MS);
    const seen = await workload.observe();
    expect(violations(seen)).toEqual([]);
    return Object.fromEntries(
      PLACES.map((place) => {
        const text = held.textOf(place);
        return [place, [seen.outcomes.get(text), seen.ledger.filter((line) => line === `write ${text}`).length]];
      }),
    );
  };

  test('killed before its writes arrive: the other host continues, no call is repeated', async () => {
    const held = await HeldRuns.at({ cluster, gates, workload }, first, 'a');
    await first.end('SIGKILL');
    await held.letGo('lost');
    await second.start();
    expect(await outcomeOf(held)).toEqual(LOST);
  });

  test('killed after its writes have arrived: the other host continues, no call is repeated', async () => {
    const held = await HeldRuns.at({ cluster, gates, workload }, second, 'b');
    await second.end('SIGKILL');
    await held.letGo('written');
    await first.start();
    expect(await outcomeOf(held)).toEqual(WRITTEN);
  });

  test('paused past its lease: it makes no call and ends no run of the other host', async () => {
    const held = await HeldRuns.at({ cluster, gates, workload }, first, 'c');
    first.signal('SIGSTOP');
    await held.letGo('written');
    await second.start();
    const outcome = await outcomeOf(held);
    first.signal('SIGCONT');
    expect(outcome).toEqual(WRITTEN);
    await first.isHeard();
    expect(await outcomeOf(held)).toEqual(WRITTEN);
  });

  test('cut off past its lease: it makes no call and ends no run of the other host', async () => {
    await first.end('SIGKILL');
    const held = await HeldRuns.at({ cluster, gates, workload }, second, 'd');
    second.machine.cut();
    await held.letGo('written');
    await first.start();
    const outcome = await outcomeOf(held);
    second.machine.heal();
    expect(outcome).toEqual(WRITTEN);
    await second.isHeard();
    expect(await outcomeOf(held)).toEqual(WRITTEN);
  });

  test('a run that two hosts want at once is resumed by one of them', async () => {
    const runId = await workload.submit();
    const gate = await gates.shut('claim', runId);
    await workload.decideAll();
    await gate.isFollowed();
    await gate.open();
    await workload.settle(30_000);
    expect(violations(await workload.observe())).toEqual([]);
  });

  test('a job whose end the database does not store costs no host and no run', async () => {
    const stop = await refuseEndsOfJobs(cluster);
    try {
      await workload.submit();
      await workload.settle(30_000);
    } finally {
      await stop();
    }
    expect(violations(await workload.observe())).toEqual([]);
  });
});

/** As when the connection breaks just then. Resolves to what ends it. */
async function refuseEndsOfJobs({ databaseUrl }: Cluster): Promise<() => Promise<void>> {
  const database = await Postgres.open({ url: databaseUrl });
  await database.query(`
    CREATE FUNCTION witness.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON codemode_queue._private_jobs FOR EACH ROW
      WHEN (OLD.locked_at IS NOT NULL) EXECUTE FUNCTION witness.refuse()`);
  return async () => {
    await database.query('DROP TRIGGER refuse ON codemode_queue._private_jobs');
    await database.close();
  };
}
