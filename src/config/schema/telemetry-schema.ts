import * as z from 'zod';
import { flag, means } from './units.js';

/** The OTLP path for traces, appended to an address without a path. */
const TRACES_PATH = '/v1/traces';
const MAX_NAME_CHARACTERS = 256;
/** The characters that a header can hold. A line break would start another header. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,256}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;

const traces = z.strictObject({
  enabled: flag()
    .default(true)
    .meta(means('Whether traces are recorded. Nothing is recorded without an `endpoint`.', 'false')),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .refine((address) => !/^https?:\/\/[^/]*@/i.test(address), {
      error: 'an address without a user; put credentials into headers',
    })
    .optional()
    .meta(
      means('A collector that takes OTLP over HTTP; `/v1/traces` is added if it has no path.', 'http://localhost:4318'),
    ),
  headers: z
    .record(
      z.string().regex(HEADER_NAME, { error: 'the name of an HTTP header' }),
      z.string().regex(HEADER_VALUE, { error: 'text that an HTTP header can hold' }),
    )
    .default({})
    .meta(
      means('HTTP headers for the collector, such as its credentials.', '{ Authorization: "Bearer ${TRACE_TOKEN}" }'),
    ),
  serviceName: z
    .string()
    .min(1)
    .max(MAX_NAME_CHARACTERS)
    .default('codemode')
    .meta(means('`service.name` of the traces.', 'codemode-staging')),
  resource: z
    .record(z.string().min(1).max(MAX_NAME_CHARACTERS), z.string().max(MAX_NAME_CHARACTERS))
    .default({})
    .meta(means('Further resource attributes.', '{ deployment.environment.name: staging }')),
  sampleRatio: z
    .number({ error: 'a number from 0 to 1' })
    .min(0)
    .max(1)
    .default(1)
    .meta(means('Share of requests that are recorded, if the client sends no trace context.', '0.1')),
  followCaller: flag()
    .default(true)
    .meta(means('Whether a client that sends a trace context decides if its request is recorded.', 'false')),
});

/** The data about requests that is sent to monitoring systems. */
export const telemetrySchema = z.strictObject({
  traces: traces.prefault({}).meta(means('OpenTelemetry traces.', '{ endpoint: "http://localhost:4318" }')),
});

export interface TraceSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampling: { readonly ratio: number; readonly followsCaller: boolean };
}

/** How traces are recorded and where they are sent; undefined if tracing is off. */
export function traceSettings({ traces: given }: z.output<typeof telemetrySchema>): TraceSettings | undefined {
  const { enabled, endpoint, headers, serviceName, resource, sampleRatio: ratio, followCaller } = given;
  if (!enabled || endpoint === undefined) return undefined;
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = TRACES_PATH;
  return {
    url: url.href,
    headers,
    resource: { ...resource, 'service.name': serviceName },
    sampling: { ratio, followsCaller: followCaller },
  };
}
