import { describe, expect, test } from 'vitest';
import { needs, ROOT, requires } from '../support/needs.js';
import { Cluster } from './cluster.js';
import { eachKindOnce, faultSchedule } from './fault-schedule.js';
import { violations } from './invariants.js';
import { storm } from './storm.js';
import { installWitness, POLICY, Workload } from './workload.js';

/** `npm run faults` says for how long and out of which seed. */
const MINUTES = Number(process.env.CODEMODE_FAULT_MINUTES ?? 0);
const SEED = Number(process.env.CODEMODE_FAULT_SEED ?? 24);
const ONLY = process.env.CODEMODE_FAULT_ONLY ?? '';
const SETTLE_MS = 120_000;

test('a seed always makes the same faults', () => {
  const firstOf = (seed: number) => {
    const faults = faultSchedule(seed, 3);
    return Array.from({ length: 50 }, () => faults.next().value);
  };
  expect(firstOf(7)).toEqual(firstOf(7));
  expect(firstOf(7)).not.toEqual(firstOf(8));
});

test('half an hour of faults cuts links of hosts and of the database for 1, 10 and 60 s', () => {
  let elapsedMs = 0;
  const cuts = new Set<string>();
  for (const { kind, host, durationMs, nextAfterMs } of faultSchedule(2026, 3)) {
    if (kind === 'cut off') cuts.add(`${host === undefined ? 'database' : 'host'} ${durationMs / 1_000}`);
    elapsedMs += nextAfterMs;
    if (elapsedMs >= 1_800_000) break;
  }
  expect([...cuts].sort()).toEqual(['database 1', 'database 10', 'database 60', 'host 1', 'host 10', 'host 60']);
});

describe('hosts under random faults', { ...requires(ROOT), ...needs('postgresql', 'iproute', 'faketime') }, () => {
  test(
    'make each approved call at most once and end each run once',
    async () => {
      const isLong = MINUTES > 0;
      const cluster = await Cluster.open({ hosts: isLong ? 3 : 2, lease: '2s', config: POLICY, hasSmallDisk: true });
      try {
        await Promise.all(cluster.hosts.map((host) => host.start()));
        await installWitness(cluster);
        const workload = new Workload(cluster);
        const begunAt = performance.now();
        await storm(cluster, workload, {
          ...(isLong
            ? { faults: faultSchedule(SEED, cluster.hosts.length, ONLY), durationMs: MINUTES * 60_000 }
            : { faults: eachKindOnce(SEED, cluster.hosts.length), durationMs: Number.POSITIVE_INFINITY }),
          submitEveryMs: isLong ? 700 : 300,
          onFault: ({ kind, host, durationMs }) => {
            const who = host === undefined ? 'the database' : `host ${host + 1}`;
            if (isLong) say(`${seconds(begunAt)} s: ${who}: ${kind}, ${durationMs} ms`);
          },
        });
        await workload.settle(SETTLE_MS);
        const seen = await workload.observe();
        const counts = `${seen.runs.length} runs, ${seen.ledger.length} calls, ${workload.unanswered} requests without an answer`;
        if (isLong) say(`seed ${SEED}: ${counts}`);
        expect(violations(seen), `repeat it with: npm run faults -- --seed ${SEED}`).toEqual([]);
        expect(seen.runs.length, counts).toBeGreaterThan(0);
      } finally {
        await cluster.close();
      }
    },
    MINUTES * 60_000 + 300_000,
  );
});

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
