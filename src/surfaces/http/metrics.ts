import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Host } from '../../host/host.js';
import type { TelemetryEvent } from '../../host/telemetry.js';

/** Servers that have a line of their own; names come from the configuration, and more would be a mistake. */
const MAX_SERVERS = 1_000;
const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** `GET /metrics` for Prometheus. It tells who uses what, so it needs a token like everything else. */
export function mountMetrics(app: FastifyInstance, host: Host): void {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'codemode_' });
  const runs = new Histogram({
    name: 'codemode_run_duration_seconds',
    help: 'Time from the start of a program to its end.',
    labelNames: ['profile', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const cpu = new Counter({
    name: 'codemode_run_cpu_seconds_total',
    help: 'Processor time that programs have used.',
    labelNames: ['profile'],
    registers,
  });
  const calls = new Histogram({
    name: 'codemode_tool_call_duration_seconds',
    help: 'Time from the wish of a program for a tool call to its answer.',
    labelNames: ['server', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const workers = new Gauge({
    name: 'codemode_workers',
    help: 'Processes that run programs, and programs in them and before them.',
    labelNames: ['kind'],
    registers,
  });
  const servers = new Set<string>();
  host.telemetry.onEvent((event: TelemetryEvent) => {
    const outcome = event.isSuccess ? 'success' : 'failure';
    if (event.type === 'run') {
      runs.observe({ profile: event.profile, outcome }, event.durationMs / 1_000);
      cpu.inc({ profile: event.profile }, event.usage.cpuMs / 1_000);
      return;
    }
    if (servers.size < MAX_SERVERS) servers.add(event.server);
    calls.observe({ server: servers.has(event.server) ? event.server : 'other', outcome }, event.durationMs / 1_000);
  });
  app.get('/metrics', { config: { scope: 'tools' } }, async (_request, reply) => {
    for (const [kind, count] of Object.entries(await host.load())) workers.set({ kind }, count);
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
