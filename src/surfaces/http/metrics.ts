import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { QuotaName } from '../../domain/quotas.js';
import type { SharedFigures } from '../../domain/shared-store.js';
import { UPSTREAM_STATES, type UpstreamState } from '../../domain/upstream.js';
import type { Host } from '../../host/host.js';
import type { TelemetryEvent } from '../../host/telemetry.js';
import { storeMetrics } from './store-metrics.js';

/** Servers with their own time series. Tools have none: servers choose tool names, so their number is unbounded. */
const MAX_SERVERS = 1_000;
const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** `GET /metrics` for Prometheus. It shows who uses what, so it needs a token like every other route. */
export function mountMetrics(app: FastifyInstance, host: Host, storeFigures?: () => Promise<SharedFigures>): void {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'codemode_' });
  const histogram = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name: `codemode_${name}_seconds`, help, labelNames, buckets: SECONDS, registers });
  const starts = histogram('run_start', 'Time that a program waits for a worker before it starts.', ['profile']);
  const runs = histogram('run_duration', 'Time from the start of a program to its end.', ['profile', 'outcome']);
  const calls = histogram('tool_call_duration', 'Time of a tool call, from the request of the program to the answer.', [
    'server',
    'outcome',
  ]);
  const upstreams = histogram(
    'upstream_call_duration',
    'Time that a server took to answer, for each time it was asked.',
    ['server', 'outcome'],
  );
  const cpu = new Counter({
    name: 'codemode_run_cpu_seconds_total',
    help: 'CPU time that programs have used.',
    labelNames: ['profile'],
    registers,
  });
  const workers = new Gauge({
    name: 'codemode_workers',
    help: 'Worker processes, programs in them, and programs that are queued.',
    labelNames: ['kind'],
    registers,
  });
  const pool = new Counter({
    name: 'codemode_pool_total',
    help: 'Processes started for programs, time slices that ended for other callers, programs refused.',
    labelNames: ['event'],
    registers,
  });
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['quota'], registers });
  const limits = gauge('codemode_quota', 'Quota of one caller, by the keys of quotas.');
  const highest = gauge('codemode_quota_highest_use', 'The most that any caller uses.');
  const refused = gauge(
    'codemode_quota_refused',
    'Times that a quota refused a caller, or dropped something old of it.',
  );
  const tellQuotas = (): void => {
    for (const name of Object.keys(host.quotas.limits) as QuotaName[]) {
      limits.set({ quota: name }, host.quotas.limits[name]);
      refused.set({ quota: name }, host.quotas.refusals(name));
      const most = host.quotas.highest(name);
      if (most !== undefined) highest.set({ quota: name }, most);
    }
  };
  const states = new Gauge({
    name: 'codemode_servers',
    help: 'Servers in each state, as this host has them.',
    labelNames: ['state'],
    registers,
  });
  const tellServers = (): void => {
    const counts = new Map<UpstreamState, number>(UPSTREAM_STATES.map((state) => [state, 0]));
    for (const { state } of host.health()) counts.set(state, (counts.get(state) ?? 0) + 1);
    for (const [state, count] of counts) states.set({ state }, count);
  };
  const tellStore = storeFigures === undefined ? undefined : storeMetrics(registry);
  const servers = new Set<string>();
  const labelOf = (server: string): string => {
    if (servers.size < MAX_SERVERS) servers.add(server);
    return servers.has(server) ? server : 'other';
  };
  host.telemetry.onEvent((event: TelemetryEvent) => {
    switch (event.type) {
      case 'start':
        return starts.observe({ profile: event.profile }, event.durationMs / 1_000);
      case 'run':
        cpu.inc({ profile: event.profile }, (event.usage.cpuMs ?? 0) / 1_000);
        return runs.observe({ profile: event.profile, outcome: outcomeOf(event) }, event.durationMs / 1_000);
      case 'call':
      case 'upstream': {
        const counted = event.type === 'call' ? calls : upstreams;
        return counted.observe({ server: labelOf(event.server), outcome: outcomeOf(event) }, event.durationMs / 1_000);
      }
      case 'problem':
        return;
    }
  });
  app.get('/metrics', { config: { scope: 'tools' } }, async (_request, reply) => {
    const { now, sinceStart } = await host.load();
    for (const [kind, count] of Object.entries(now)) workers.set({ kind }, count);
    tellQuotas();
    tellServers();
    if (storeFigures !== undefined) tellStore?.(await storeFigures());
    pool.reset();
    for (const [event, count] of Object.entries(sinceStart)) pool.inc({ event }, count);
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

function outcomeOf({ isSuccess }: { readonly isSuccess: boolean }): string {
  return isSuccess ? 'success' : 'failure';
}
