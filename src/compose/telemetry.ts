import { randomUUID } from 'node:crypto';
import type { Config } from '../config/schema/schema.js';
import { traceSettings } from '../config/schema/telemetry-schema.js';
import type { FinishedSpan, Tracer } from '../domain/trace.js';
import { VERSION } from '../domain/version.js';

export interface TracingOptions {
  /** Receives all spans instead of a collector. */
  readonly onSpan?: ((span: FinishedSpan) => void) | undefined;
  /** Called when spans start to be lost. */
  readonly onProblem: (problem: string) => void;
}

/** Records and exports traces. Its code is not loaded if tracing is off. */
export async function openTracing(
  { telemetry }: Config,
  { onSpan, onProblem }: TracingOptions,
): Promise<{ readonly tracer?: Tracer; readonly closeTraces?: () => Promise<void> }> {
  const settings = traceSettings(telemetry);
  if (settings === undefined && onSpan === undefined) return {};
  const { SpanTracer } = await import('../telemetry/tracer.js');
  if (onSpan !== undefined || settings === undefined)
    return { tracer: new SpanTracer({ ratio: 1, followsCaller: false }, (span) => onSpan?.(span)) };
  const { SpanExporter } = await import('../telemetry/span-exporter.js');
  const { url, headers, sampling, resource } = settings;
  const exporter = new SpanExporter({
    ...{ url, headers, version: VERSION, onProblem },
    resource: {
      ...resource,
      'service.version': VERSION,
      'service.instance.id': randomUUID(),
      'telemetry.sdk.name': 'codemode',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': VERSION,
    },
  });
  const tracer = new SpanTracer(sampling, (span) => exporter.add(span));
  return { tracer, closeTraces: () => exporter.close() };
}
