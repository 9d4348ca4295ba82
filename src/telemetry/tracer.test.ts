import { describe, expect, test } from 'vitest';
import type { FinishedSpan } from '../domain/trace.js';
import { otlpRequest } from './otlp.js';
import { type Sampling, SpanTracer } from './tracer.js';

function recorder(sampling: Partial<Sampling> = {}) {
  const spans: FinishedSpan[] = [];
  return { spans, tracer: new SpanTracer({ ratio: 1, followsCaller: true, ...sampling }, (span) => spans.push(span)) };
}
const caller = (isSampled: boolean) => ({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled, state: 'x=y' });

describe('a span', () => {
  test('is a part of what it was started in, and is handed over once, when it ends [X4]', () => {
    const { spans, tracer } = recorder();
    const outer = tracer.start('outer', { parent: caller(true), kind: 'server' });
    const inner = tracer.start('inner', { parent: outer.context });
    inner.set({ count: 3, nothing: undefined, name: 'n'.repeat(1_000) });
    inner.fail('timeout');
    inner.end();
    inner.end();
    expect(spans).toEqual([
      {
        name: 'inner',
        kind: 'internal',
        context: {
          traceId: 'a'.repeat(32),
          spanId: expect.stringMatching(/^[\da-f]{16}$/),
          isSampled: true,
          state: 'x=y',
        },
        parentSpanId: outer.context.spanId,
        startedAtMs: expect.any(Number),
        durationMs: expect.any(Number),
        attributes: { count: 3, name: `${'n'.repeat(255)}…` },
        errorType: 'timeout',
      },
    ]);
    outer.end();
    expect(spans[1]).toMatchObject({ name: 'outer', kind: 'server', parentSpanId: 'b'.repeat(16) });
  });

  test('that nobody records passes on the context it came with, and is never handed over [X4]', () => {
    const { spans, tracer } = recorder();
    const span = tracer.start('a', { parent: caller(false) });
    span.end();
    expect(span.context).toEqual(caller(false));
    expect(spans).toEqual([]);
  });

  test('begins a trace under the id that the client was given [X4]', () => {
    const traceId = 'c'.repeat(32);
    expect(recorder().tracer.start('a', { traceId }).context).toMatchObject({ traceId });
  });
});

describe('sampling', () => {
  test('records the configured share and decides the same way for one trace each time [X4]', () => {
    const { tracer } = recorder({ ratio: 0.25 });
    const roots = Array.from({ length: 2_000 }, () => tracer.start('a').context);
    const share = roots.filter(({ isSampled }) => isSampled).length / roots.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.3);
    for (const parent of roots) expect(tracer.start('b', { parent }).context.isSampled).toBe(parent.isSampled);
  });

  test('goes by its own share where the word of the caller does not count [X4]', () => {
    const never = recorder({ ratio: 0, followsCaller: false }).tracer;
    const always = recorder({ ratio: 1, followsCaller: false }).tracer;
    expect(never.start('a', { parent: caller(true) }).context.isSampled).toBe(false);
    expect(always.start('a', { parent: caller(false) }).context.isSampled).toBe(true);
  });
});

test('spans are written as OTLP has them in JSON [X4]', () => {
  const span: FinishedSpan = {
    name: 'tools/call echo',
    kind: 'client',
    context: caller(true),
    parentSpanId: 'd'.repeat(16),
    startedAtMs: 1_789_000_000_000.25,
    durationMs: 1.5,
    attributes: { text: 'a', whole: 3, part: 0.5, is: true },
    errorType: 'tool_error',
  };
  expect(JSON.parse(otlpRequest([span], { 'service.name': 'codemode' }, '1.2.3'))).toEqual({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'codemode' } }] },
        scopeSpans: [
          {
            scope: { name: 'codemode', version: '1.2.3' },
            spans: [
              {
                traceId: 'a'.repeat(32),
                spanId: 'b'.repeat(16),
                traceState: 'x=y',
                parentSpanId: 'd'.repeat(16),
                flags: 1,
                name: 'tools/call echo',
                kind: 3,
                startTimeUnixNano: '1789000000000250000',
                endTimeUnixNano: '1789000000001750000',
                attributes: [
                  { key: 'text', value: { stringValue: 'a' } },
                  { key: 'whole', value: { intValue: '3' } },
                  { key: 'part', value: { doubleValue: 0.5 } },
                  { key: 'is', value: { boolValue: true } },
                  { key: 'error.type', value: { stringValue: 'tool_error' } },
                ],
                status: { code: 2 },
              },
            ],
          },
        ],
      },
    ],
  });
});
