import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { checkNeed } from '../../scripts/system-needs.mjs';
import { Postgres } from '../../src/store/postgres/database/connection.js';
import type { Cluster, ClusterHost } from './cluster.js';

/** A fault of a host, and how it ends. */
interface HostFault {
  begin(host: ClusterHost): Promise<void> | void;
  end(host: ClusterHost): Promise<void> | void;
}

/** A fault of the database, and how it ends. */
interface DatabaseFault {
  begin(cluster: Cluster): Promise<void> | void;
  end(cluster: Cluster): Promise<void> | void;
}

const SKEWS = ['-5m', '+5m'];

export const HOST_FAULTS: Readonly<Record<string, HostFault>> = {
  killed: { begin: (host) => host.end('SIGKILL'), end: (host) => host.start() },
  drained: { begin: (host) => host.end('SIGTERM'), end: (host) => host.start() },
  paused: { begin: (host) => host.signal('SIGSTOP'), end: (host) => host.signal('SIGCONT') },
  'cut off': { begin: (host) => host.machine.cut(), end: (host) => host.machine.heal() },
  /** The clock stays wrong until the host is started again by another fault. */
  'started with a wrong clock': { begin: (host) => host.end('SIGKILL'), end: (host) => host.start(wrongClock(host)) },
};

export const DATABASE_FAULTS: Readonly<Record<string, DatabaseFault>> = {
  restarted: { begin: ({ postgres }) => postgres.stop('fast'), end: ({ postgres }) => postgres.start() },
  crashed: { begin: ({ postgres }) => postgres.stop('immediate'), end: ({ postgres }) => postgres.start() },
  'cut off': {
    begin: ({ databaseMachine }) => databaseMachine.cut(),
    end: ({ databaseMachine }) => databaseMachine.heal(),
  },
  refusing: { begin: (cluster) => cluster.refuseDatabase(), end: (cluster) => cluster.mendDatabase() },
  slow: { begin: (cluster) => cluster.slowDatabase(100), end: (cluster) => cluster.mendDatabase() },
  'out of connections': { begin: takeConnections, end: giveConnections },
  'out of disk': { begin: fillDisk, end: clearDisk },
};

/**
 * Words before the command of a host that give it a clock that is five minutes off. Not `faketime` itself: it stays as the parent of
 * what it starts, and gets the signals that are meant for the host.
 */
export function wrongClock(host: ClusterHost): string[] {
  const need = checkNeed('faketime');
  if (!need.isMet) throw new Error(`no host can be given a wrong clock: ${need.reason}`);
  const skew = SKEWS[Number(host.name.at(-1)) % 2] ?? '';
  const lines = execFileSync('faketime', ['-f', skew, 'env'], { encoding: 'utf8' }).split('\n');
  return ['env', ...lines.filter((line) => /^(LD_PRELOAD|FAKETIME)=/.test(line))];
}

const taken = new WeakMap<Cluster, Client[]>();

/** Hosts lose those that they have, and the test is faster to get them. */
async function takeConnections(cluster: Cluster): Promise<void> {
  const database = await Postgres.open({ url: cluster.databaseUrl, maxConnections: 1, applicationName: 'fault' });
  const clients: Client[] = [];
  taken.set(cluster, clients);
  try {
    const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'fault'`;
    for (let isFull = false; !isFull; ) {
      await database.query(others);
      const more = Array.from({ length: 10 }, () => database.client());
      const opened = await Promise.allSettled(more.map((client) => client.connect()));
      clients.push(...more.filter((_, index) => opened[index]?.status === 'fulfilled'));
      isFull = opened.some(({ status }) => status === 'rejected');
    }
  } finally {
    await database.close();
  }
}

async function giveConnections(cluster: Cluster): Promise<void> {
  await Promise.all((taken.get(cluster) ?? []).map((client) => client.end().catch(() => {})));
  taken.delete(cluster);
}

function fillDisk({ diskFolder }: Cluster): void {
  if (diskFolder === undefined) return;
  const file = join(diskFolder, 'filler');
  for (let size = 16 * 1024 * 1024; size >= 4_096; ) {
    try {
      writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
    } catch {
      size /= 4;
    }
  }
}

/** A database that could not write its log has stopped. */
async function clearDisk({ diskFolder, postgres }: Cluster): Promise<void> {
  if (diskFolder !== undefined) rmSync(join(diskFolder, 'filler'), { force: true });
  if (!postgres.isUp) await postgres.start();
}
