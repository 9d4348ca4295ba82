import { describe, expect, test } from 'vitest';
import { startCollector } from '../../test/support/collector.js';
import { until } from '../../test/support/program.js';
import type { FinishedSpan } from '../domain/trace.js';
import { SpanExporter } from './span-exporter.js';

function spanNumber(number: number): FinishedSpan {
  return {
    name: `span ${number}`,
    kind: 'internal',
    context: { traceId: 'a'.repeat(32), spanId: number.toString(16).padStart(16, '1'), isSampled: true },
    startedAtMs: Date.now(),
    durationMs: 1,
    attributes: {},
  };
}

function open(url: string) {
  const problems: string[] = [];
  const exporter = new SpanExporter({
    url: `${url}/v1/traces`,
    headers: { authorization: 'Bearer of-the-collector' },
    resource: { 'service.name': 'codemode' },
    version: '0',
    onProblem: (problem) => problems.push(problem),
  });
  return { exporter, problems };
}

describe('spans', () => {
  test('are sent in batches off the request path, with the configured headers [X4]', async () => {
    await using collector = await startCollector();
    const { exporter, problems } = open(collector.url);
    for (let number = 0; number < 1_100; number++) exporter.add(spanNumber(number));
    await exporter.close();
    expect(collector.spans.map(({ name }) => name)).toEqual(Array.from({ length: 1_100 }, (_, n) => `span ${n}`));
    expect(collector.requests.length).toBe(3);
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { authorization: 'Bearer of-the-collector', 'content-type': 'application/json' },
    });
    expect(problems).toEqual([]);
  });

  test('are sent by themselves after a while, and again where the collector had no time for them [X4]', async () => {
    await using collector = await startCollector(503);
    const { exporter, problems } = open(collector.url);
    exporter.add(spanNumber(1));
    await until(() => collector.requests.length === 1);
    collector.behave('takes');
    await until(() => collector.spans.length === 1);
    expect(problems).toEqual([expect.stringMatching(/^traces are being lost: .*\/v1\/traces .* status 503$/)]);
    await exporter.close();
  });

  test('over a bound are dropped while a collector hangs, and flushing stops after a second [X4]', async () => {
    await using collector = await startCollector('hangs');
    const { exporter, problems } = open(collector.url);
    for (let number = 0; number < 20_000; number++) exporter.add(spanNumber(number));
    await until(() => collector.requests.length === 1);
    collector.behave('takes');
    await exporter.close();
    // The one batch that hangs: nothing else is sent before it was answered, and nothing after the last second.
    expect(collector.spans).toEqual([]);
    expect(problems).toEqual([expect.stringContaining('more than 4096 spans wait to be sent')]);
  });

  test('for a collector that is down are lost, which is said once and keeps nobody waiting [X4]', async () => {
    const collector = await startCollector();
    await collector[Symbol.asyncDispose]();
    const { exporter, problems } = open(collector.url);
    for (let number = 0; number < 600; number++) exporter.add(spanNumber(number));
    await exporter.close();
    exporter.add(spanNumber(1));
    expect(problems).toEqual([expect.stringMatching(/^traces are being lost: .* ECONNREFUSED$/)]);
  });

  test('follow no redirect: the credentials are for one address [X4]', async () => {
    await using collector = await startCollector(307);
    const { exporter, problems } = open(collector.url);
    exporter.add(spanNumber(1));
    await exporter.close();
    expect(collector.requests.length).toBe(1);
    expect(problems).toEqual([expect.stringContaining('status 307')]);
  });
});
