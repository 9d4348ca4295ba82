import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CodemodeHost } from '../../../src/index.js';
import { Home } from '../../support/cli.js';
import { pathsOf, startCollector } from '../../support/collector.js';
import { needs } from '../../support/needs.js';
import { read } from '../../support/runner.js';
import { fixture } from '../../support/upstreams.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`;
const PROGRAM = `import { meta } from '@codemode/servers/tracing';
globalThis.__codemode_result__ = (await meta({})).traceparent ?? 'none';`;

let home: Home;
beforeAll(() => {
  home = new Home();
  home.write('codemode.config.json', {
    mcpServers: { tracing: { command: process.execPath, args: [fixture('tracing-server.mjs'), 'legacy'] } },
  });
  home.write('program.ts', PROGRAM);
});
afterAll(() => home?.[Symbol.dispose]());

describe('codemode run', () => {
  test('is a part of what started it, and sends its trace before it ends [X4]', async () => {
    await using collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'mine', TRACEPARENT };
    const { result } = await home.json<{ result: string }>(['run', 'program.ts'], { env });
    expect(pathsOf(collector.spans)).toEqual([
      'codemode.run',
      'codemode.run > codemode.prepare',
      'codemode.run > codemode.start',
      'codemode.run > execute_tool meta',
      'codemode.run > execute_tool meta > tools/call meta',
    ]);
    const upstream = collector.spans.find(({ name }) => name === 'tools/call meta');
    expect(result).toBe(`00-${TRACE}-${upstream?.spanId}-01`);
    expect(collector.spans.find(({ name }) => name === 'codemode.run')?.parentSpanId).toBe(SPAN);
    expect(collector.requests[0]?.path).toBe('/v1/traces');
    expect(collector.resources[0]?.['service.name']).toBe('mine');
  });

  test('without a collector sends servers no trace, even if it received one [X4]', async () => {
    expect(await home.json(['run', 'program.ts'], { env: { TRACEPARENT } })).toMatchObject({ result: 'none' });
  });

  test('does its work where the collector hangs, refuses or is gone, and says what is lost [X4]', async () => {
    await using hanging = await startCollector('hangs');
    await using refusing = await startCollector(401);
    const gone = await startCollector();
    await gone[Symbol.asyncDispose]();
    const ended = await Promise.all(
      [hanging, refusing, gone].map(({ url }) =>
        home.run(['run', 'program.ts'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } }),
      ),
    );
    for (const { status, stdout } of ended) {
      expect(status).toBe(0);
      expect(JSON.parse(stdout).result).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/);
    }
    expect(ended.map(({ stderr }) => /traces are being lost: .*: (.*)/.exec(stderr)?.[1])).toEqual([
      'it does not answer in time',
      'it answered with status 401',
      'ECONNREFUSED',
    ]);
  });
});

describe('codemode runner', () => {
  test(
    'says the id of its trace in the envelope, with and without a collector [X4, B2]',
    needs('bubblewrap'),
    async () => {
      await using collector = await startCollector();
      const input = `import * as tracing from './servers/tracing/index.js';\nglobalThis.result = await tracing.meta({});`;
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      const { envelope, data } = read(await home.run(['runner', 'node'], { env, input }));
      expect(pathsOf(collector.spans)).toEqual([
        'codemode.run',
        'codemode.run > codemode.prepare',
        'codemode.run > codemode.start',
        'codemode.run > execute_tool meta',
        'codemode.run > execute_tool meta > tools/call meta',
      ]);
      expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([envelope.trace_id]));
      expect(JSON.stringify(data)).toContain(envelope.trace_id);
      expect(collector.spans.find(({ name }) => name === 'codemode.run')?.attributes['codemode.run.id']).toBe(
        envelope.run_id,
      );
      const untraced = read(await home.run(['runner', 'node'], { env: { TRACEPARENT }, input: 'result = 1' }));
      expect(untraced.envelope.trace_id).toBe(TRACE);
    },
  );
});

test('the library records where its configuration says so, as a part of what its user does [X4]', async () => {
  await using collector = await startCollector();
  const { createHost } = (await import(new URL('../../../dist/index.js', import.meta.url).href)) as {
    createHost(options: object): Promise<CodemodeHost>;
  };
  await using host = await createHost({
    config: { telemetry: { traces: { endpoint: collector.url } } },
    tools: { own: { meta: { execute: () => 'here' } } },
  });
  const code = `import { meta } from '@codemode/servers/own'; globalThis.__codemode_result__ = await meta();`;
  const { result } = await host.run(code, { trace: { traceparent: TRACEPARENT } });
  expect(result).toBe('here');
  expect(await host.callTool('own', 'meta', {}, { trace: { traceparent: TRACEPARENT } })).toBe('here');
  await host.close();
  expect(pathsOf(collector.spans)).toEqual([
    'codemode.run',
    'codemode.run > codemode.prepare',
    'codemode.run > codemode.start',
    'codemode.run > execute_tool meta',
    'codemode.run > execute_tool meta > native meta',
    'execute_tool meta',
    'execute_tool meta > native meta',
  ]);
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
});
