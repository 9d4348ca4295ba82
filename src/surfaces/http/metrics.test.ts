import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { CallerQuotas } from '../../domain/quotas.js';
import type { Host } from '../../host/host.js';
import { Telemetry } from '../../host/telemetry.js';
import { mountMetrics } from './metrics.js';

test("servers have metric lines up to a bound, and one server's name cannot create lines [X4]", async () => {
  const telemetry = new Telemetry();
  const app = Fastify();
  const load = async () => ({ now: { processes: 1, spares: 1, running: 0, queued: 0 }, sinceStart: { refused: 0 } });
  const health = () => [{ state: 'quarantined' }, { state: 'ready' }, { state: 'ready' }];
  mountMetrics(app, { telemetry, load, health, quotas: new CallerQuotas() } as unknown as Host);
  telemetry.onCall('odd"} 1\ncodemode_forged_total 7', true, 1);
  for (let index = 0; index < 5_000; index++) {
    telemetry.onCall(`server-${index}`, true, 1);
    telemetry.onUpstreamCall(`server-${index}`, false, 1);
  }
  const { body } = await app.inject('/metrics');
  const counts = body.split('\n').filter((line) => line.startsWith('codemode_tool_call_duration_seconds_count'));
  expect(counts.length).toBe(1_001);
  expect(counts).toContain('codemode_tool_call_duration_seconds_count{server="other",outcome="success"} 4001');
  expect(body).toContain('codemode_upstream_call_duration_seconds_count{server="other",outcome="failure"} 4001');
  expect(body).not.toMatch(/^codemode_forged/m);
  const states = body
    .split('\n')
    .filter((line) => /^codemode_servers\{state="(?:ready|quarantined|failed)"/.test(line));
  expect(states.map((line) => line.replace(/^.*="/, '')).sort()).toEqual([
    'failed"} 0',
    'quarantined"} 1',
    'ready"} 2',
  ]);
});
