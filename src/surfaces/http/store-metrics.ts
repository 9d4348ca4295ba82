import { Gauge, type Registry } from 'prom-client';
import type { SharedFigures } from '../../domain/shared-store.js';

/** Gauges of the database that hosts share. Every host reports the same shared values: take the maximum, not the sum. */
export function storeMetrics(registry: Registry): (figures: SharedFigures) => void {
  const registers = [registry];
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `codemode_store_${name}`, help, labelNames, registers });
  const up = gauge('up', 'Whether the database answered when it was last asked.');
  const connections = gauge('connections', 'Connections of this host, and statements that wait for one.', 'state');
  const heartbeat = gauge(
    'heartbeat_age_seconds',
    'Since this host last renewed its lease; beyond cluster.lease it has none.',
  );
  const answered = gauge('answered_in_seconds', 'How long the database took to answer for the other gauges.');
  const hosts = gauge('hosts', 'Hosts that are up.');
  const runs = gauge('runs', 'Runs that are suspended, and those of them that a host has resumed.', 'state');
  const pending = gauge('approvals_pending', 'Calls that wait for a person.');
  const jobs = gauge('queue_jobs', 'Jobs of the queue: ready, for later, and being worked on.', 'state');
  const lag = gauge('queue_lag_seconds', 'How long the oldest job that is ready has waited.');
  return ({ connections: own, heartbeatAgeMs, counts }) => {
    for (const [state, count] of Object.entries(own)) connections.set({ state }, count);
    heartbeat.set(heartbeatAgeMs / 1_000);
    up.set(counts === undefined ? 0 : 1);
    if (counts === undefined) return;
    answered.set(counts.answeredInMs / 1_000);
    hosts.set(counts.hosts);
    runs.set({ state: 'suspended' }, counts.suspended);
    runs.set({ state: 'resumed' }, counts.resumed);
    pending.set(counts.pending);
    const { ready, later, taken, lagMs } = counts.queue;
    for (const [state, count] of Object.entries({ ready, later, taken })) jobs.set({ state }, count);
    lag.set(lagMs / 1_000);
  };
}
