import type { JsonObject } from '../../domain/json.js';
import type { LayerValues } from '../files/layers.js';
import { renderPath } from '../files/path.js';
import type { Environment } from '../variables/environment.js';

/** The samplers that OpenTelemetry names: the share of traces, and whether the caller's own decision is honoured. */
const SAMPLERS: Readonly<Record<string, { ratio?: number; followCaller: boolean }>> = {
  always_on: { ratio: 1, followCaller: false },
  always_off: { ratio: 0, followCaller: false },
  traceidratio: { followCaller: false },
  parentbased_always_on: { ratio: 1, followCaller: true },
  parentbased_always_off: { ratio: 0, followCaller: true },
  parentbased_traceidratio: { followCaller: true },
};

/**
 * The settings from OpenTelemetry's own variables. These are often set for all programs of a machine, some of which support more
 * than this one: an unsupported value causes a warning and has no effect.
 */
export function openTelemetryLayer(environment: Environment): {
  readonly layer: LayerValues;
  readonly warnings: readonly string[];
} {
  const traces: JsonObject = {};
  const places = new Map<string, string>();
  const warnings: string[] = [];
  const given = (name: string) => environment[name]?.trim() || undefined;
  const put = (key: string, value: JsonObject[string], place: string) => {
    traces[key] = value;
    places.set(renderPath(['telemetry', 'traces', key]), place);
  };
  /** The first of these variables that is set. */
  const first = (...names: string[]) => names.find((name) => given(name) !== undefined);
  const map = (key: string, name: string | undefined) => {
    const entries = name === undefined ? [] : [...readPairs(given(name) as string)];
    if (name !== undefined && entries.length > 0) put(key, Object.fromEntries(entries), name);
  };

  const address = first('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (address === undefined) return { layer: layerOf({}, places), warnings };
  const base = given(address) as string;
  if (!/^https?:\/\//i.test(base) || !URL.canParse(base))
    return { layer: layerOf({}, places), warnings: [`${address} is not an http or https address: it has no effect`] };
  put('endpoint', address === 'OTEL_EXPORTER_OTLP_ENDPOINT' ? `${base.replace(/\/+$/, '')}/v1/traces` : base, address);

  const protocol = first('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol !== undefined && given(protocol) === 'grpc') {
    put('enabled', false, protocol);
    warnings.push(`${protocol} asks for gRPC, and traces are sent over HTTP only: none are sent`);
  }
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') put('enabled', false, 'OTEL_SDK_DISABLED');
  const exporters = given('OTEL_TRACES_EXPORTER');
  if (exporters !== undefined && !exporters.split(',').some((each) => each.trim() === 'otlp'))
    put('enabled', false, 'OTEL_TRACES_EXPORTER');

  map('headers', first('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'));
  map('resource', first('OTEL_RESOURCE_ATTRIBUTES'));
  const serviceName = given('OTEL_SERVICE_NAME');
  const ofResource = (traces.resource as JsonObject | undefined)?.['service.name'];
  if (serviceName !== undefined) put('serviceName', serviceName, 'OTEL_SERVICE_NAME');
  else if (typeof ofResource === 'string') put('serviceName', ofResource, 'OTEL_RESOURCE_ATTRIBUTES');

  const name = given('OTEL_TRACES_SAMPLER');
  const sampler = name === undefined ? undefined : Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (sampler !== undefined) {
    const ratio = sampler.ratio ?? Number(given('OTEL_TRACES_SAMPLER_ARG') ?? 1);
    if (ratio >= 0 && ratio <= 1) put('sampleRatio', ratio, 'OTEL_TRACES_SAMPLER');
    else warnings.push('OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1: it has no effect');
    put('followCaller', sampler.followCaller, 'OTEL_TRACES_SAMPLER');
  } else if (name !== undefined) {
    warnings.push(`OTEL_TRACES_SAMPLER is none of ${Object.keys(SAMPLERS).join(', ')}: it has no effect`);
  }
  return { layer: layerOf(traces, places), warnings };
}

function layerOf(traces: JsonObject, places: ReadonlyMap<string, string>): LayerValues {
  return {
    layer: 'environment',
    value: Object.keys(traces).length === 0 ? {} : { telemetry: { traces } },
    placeOf: (path) => places.get(renderPath(path.slice(0, 3))) ?? 'environment',
  };
}

/** `key1=value1,key2=value2`, with special characters percent-encoded. */
function* readPairs(text: string): Generator<[string, string]> {
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    if (at < 1) continue;
    yield [decoded(pair.slice(0, at).trim()), decoded(pair.slice(at + 1).trim())];
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
