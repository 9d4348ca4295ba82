import { describe, expect, test } from 'vitest';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { explainConfig } from '../explain.js';
import { loadConfig } from '../load.js';
import { traceSettings } from './telemetry-schema.js';

const load = (environment: Record<string, string>, telemetry?: object) =>
  loadConfig({ cwd: '/', environment, inline: omitUndefined({ telemetry }) });
const settings = async (environment: Record<string, string>, telemetry?: object) =>
  traceSettings((await load(environment, telemetry)).config.telemetry);

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' };

describe('traces', () => {
  test('are off unless an endpoint is configured [X4]', async () => {
    expect(await settings({})).toBeUndefined();
    expect(await settings({ OTEL_SERVICE_NAME: 'a', OTEL_TRACES_SAMPLER: 'always_on' })).toBeUndefined();
  });

  test('go where the configuration says, to the usual path where it names none [X4]', async () => {
    const traces = {
      endpoint: 'http://collector:4318',
      headers: { 'x-key': 'a' },
      sampleRatio: 0.5,
      resource: { a: 'b' },
    };
    expect(await settings({}, { traces })).toEqual({
      url: 'http://collector:4318/v1/traces',
      headers: { 'x-key': 'a' },
      resource: { a: 'b', 'service.name': 'codemode' },
      sampling: { ratio: 0.5, followsCaller: true },
    });
    expect(await settings({}, { traces: { endpoint: 'https://a/otlp/x' } })).toMatchObject({ url: 'https://a/otlp/x' });
    expect(await settings({}, { traces: { ...traces, enabled: false } })).toBeUndefined();
  });

  test("are switched on and described by OpenTelemetry's own variables [X4]", async () => {
    expect(
      await settings({
        ...ENDPOINT,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-team = a',
        OTEL_SERVICE_NAME: 'mine',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=staging',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
      }),
    ).toEqual({
      url: 'http://127.0.0.1:4318/v1/traces',
      headers: { authorization: 'Bearer abc', 'x-team': 'a' },
      resource: { 'service.name': 'mine', 'deployment.environment.name': 'staging' },
      sampling: { ratio: 0.25, followsCaller: true },
    });
    expect(await settings({ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b/x' })).toMatchObject({
      url: 'http://b/x',
    });
    expect(await settings({ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'always_off' })).toMatchObject({
      sampling: { ratio: 0, followsCaller: false },
    });
  });

  test.each([{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }])(
    'are off where %o says so [X4]',
    async (variables) => {
      expect(await settings({ ...ENDPOINT, ...variables })).toBeUndefined();
    },
  );

  test('go on where a variable that was set for other programs makes no sense here, with a warning [X4]', async () => {
    const odd = { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'xray' };
    expect((await load(odd)).warnings).toEqual([expect.stringMatching(/^OTEL_TRACES_SAMPLER is none of always_on,/)]);
    expect(await settings(odd)).toMatchObject({ sampling: { ratio: 1 } });
    const wrong = { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' };
    expect((await load(wrong)).warnings).toEqual([expect.stringContaining('OTEL_TRACES_SAMPLER_ARG')]);
    const socket = { OTEL_EXPORTER_OTLP_ENDPOINT: 'unix:///x' };
    expect((await load(socket)).warnings).toEqual([expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT')]);
    expect(await settings(socket)).toBeUndefined();
  });

  test('are explained with where each setting comes from, and without the credentials [X4]', async () => {
    const loaded = await load({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'x-team=secret-of-mine' });
    const rows = explainConfig(loaded).filter(({ key }) => key.startsWith('telemetry.traces.'));
    expect(rows).toContainEqual({
      key: 'telemetry.traces.endpoint',
      value: '"http://127.0.0.1:4318/v1/traces"',
      layer: 'environment',
      place: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    });
    expect(rows.find(({ key }) => key.endsWith('x-team'))?.place).toBe('OTEL_EXPORTER_OTLP_HEADERS');
    expect(JSON.stringify(rows)).not.toContain('secret-of-mine');
  });

  test.each([
    [{ traces: { endpoint: 'collector:4318' } }, 'telemetry.traces.endpoint: expected an address'],
    [{ traces: { endpoint: 'http://a:b@c' } }, 'telemetry.traces.endpoint: expected an address without a user'],
    [{ traces: { sampleRatio: 2 } }, 'telemetry.traces.sampleRatio: expected at most 1, found 2'],
    [{ traces: { headers: { 'a b': 'c' } } }, 'telemetry.traces.headers["a b"]: expected the name of an HTTP header'],
    [
      { traces: { headers: { a: 'b\r\nc' } } },
      'telemetry.traces.headers.a: expected text that an HTTP header can hold',
    ],
    [{ trace: {} }, 'telemetry.trace: '],
  ])('with the mistake %j are refused with its place [X4]', async (telemetry, problem) => {
    await expect(load({}, telemetry)).rejects.toThrow(problem);
  });
});
