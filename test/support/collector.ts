import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './program.js';

/** A span as the collector got it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly isError: boolean;
}

/** How it answers: as a collector, never, or with a status. */
export type Behaviour = 'takes' | 'hangs' | number;

/** A collector that takes OTLP over HTTP in JSON, on a free port of loopback. What is not valid is an error of the test. */
export async function startCollector(behaviour: Behaviour = 'takes') {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const resources: Record<string, unknown>[] = [];
  let mode = behaviour;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    bodies.push(body);
    requests.push({ path: request.url ?? '', headers: request.headers });
    if (mode === 'hangs') return;
    if (mode === 'takes') for (const span of readRequest(body, resources)) spans.push(span);
    response.writeHead(mode === 'takes' ? 200 : mode, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    /** Everything that was ever sent to it. */
    bodies,
    requests,
    resources,
    behave: (next: Behaviour) => {
      mode = next;
    },
    /** The spans of a trace, as soon as all that are named are there. */
    async trace(isWanted: (span: ReceivedSpan) => boolean, ...names: string[]): Promise<ReceivedSpan[]> {
      const found = () => {
        const root = spans.find(isWanted);
        return spans.filter(({ traceId }) => traceId === root?.traceId);
      };
      await until(() => names.every((name) => found().some((span) => span.name === name)));
      return found();
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The names of a trace, each below what it is a part of: `a > b`. What has no parent in it stands by itself. */
export function pathsOf(spans: readonly ReceivedSpan[]): string[] {
  const pathOf = ({ name, parentSpanId }: ReceivedSpan): string => {
    const parent = spans.find(({ spanId }) => spanId === parentSpanId);
    return parent === undefined ? name : `${pathOf(parent)} > ${name}`;
  };
  return spans.map(pathOf).sort();
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { stringValue?: string; intValue?: string; doubleValue?: number; boolValue?: boolean };
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
}

function* readRequest(body: string, resources: Record<string, unknown>[]): Generator<ReceivedSpan> {
  for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
    resources.push(attributesOf(resource.attributes));
    for (const { spans } of scopeSpans) for (const span of spans) yield readSpan(span);
  }
}

function readSpan({ startTimeUnixNano, endTimeUnixNano, attributes, status, ...span }: OtlpSpan): ReceivedSpan {
  if (!/^[\da-f]{32}$/.test(span.traceId) || !/^[\da-f]{16}$/.test(span.spanId)) throw new Error('no ids of a span');
  const [startNs, endNs] = [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)];
  if (endNs < startNs) throw new Error(`${span.name} ends before it starts`);
  return { ...span, startNs, endNs, attributes: attributesOf(attributes), isError: status.code === 2 };
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => {
      const value = stringValue ?? boolValue ?? doubleValue ?? (intValue === undefined ? undefined : Number(intValue));
      if (value === undefined) throw new Error(`attribute ${key} has no value`);
      return [key, value];
    }),
  );
}
