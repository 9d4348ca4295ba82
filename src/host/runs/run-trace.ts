import { isHostError } from '../../domain/errors.js';
import type { Outcome, ResourceUsage } from '../../domain/run.js';
import { SPANS, type Span, type TraceContext, type Tracer } from '../../domain/trace.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Telemetry } from '../telemetry.js';

export interface TraceParts {
  readonly telemetry: Telemetry;
  /** Absent if tracing is off. */
  readonly tracer?: Tracer;
}

export interface TracedRun {
  readonly runId: string;
  readonly profile: string;
  /** The parent span. */
  readonly parent?: TraceContext | undefined;
  /** The trace id that the client was given, if there is no parent span. */
  readonly traceId?: string | undefined;
  /** The run was suspended and is resumed. */
  readonly isResumed?: boolean;
}

/** The spans and telemetry events of one run. Costs a few comparisons if tracing is off. */
export class RunTrace {
  readonly #parts: TraceParts;
  readonly #run: TracedRun;
  readonly #span: Span | undefined;

  constructor(parts: TraceParts, run: TracedRun) {
    this.#parts = parts;
    this.#run = run;
    const { runId, profile, parent, traceId, isResumed } = run;
    this.#span = parts.tracer?.start(SPANS.run, {
      parent,
      ...omitUndefined({ traceId }),
      attributes: { 'codemode.run.id': runId, 'codemode.profile': profile, 'codemode.run.resumed': isResumed },
    });
  }

  /** The parent span of its calls. */
  get context(): TraceContext | undefined {
    return this.#span?.context;
  }

  /** Connects the servers that the program uses. */
  prepare<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#span === undefined ? work() : this.#step(SPANS.prepare, work);
  }

  /** From the request for a worker to the start of the program in it. */
  async start<Result>(work: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    const result = await (this.#span === undefined ? work() : this.#step(SPANS.start, work));
    this.#parts.telemetry.emit({
      type: 'start',
      profile: this.#run.profile,
      durationMs: performance.now() - startedAt,
    });
    return result;
  }

  /** The program has succeeded or failed. */
  ended(outcome: Outcome, durationMs: number, usage: Partial<ResourceUsage>): void {
    const { runId, profile } = this.#run;
    const isSuccess = outcome.status === 'completed';
    const traceId = this.#span?.context.traceId;
    this.#parts.telemetry.emit({
      type: 'run',
      runId,
      profile,
      isSuccess,
      durationMs,
      usage,
      ...omitUndefined({ traceId }),
    });
    // The name and message of a thrown error are chosen by the program and may contain anything.
    if (!isSuccess) this.#span?.fail(outcome.failure.kind);
    this.#span?.set({
      'codemode.run.outcome': outcome.status,
      'codemode.run.limit': isSuccess ? undefined : outcome.failure.limit,
      'codemode.run.cpu_ms': usage.cpuMs,
    });
  }

  /** The run is suspended until a person has decided. */
  suspended(): void {
    this.#span?.set({ 'codemode.run.outcome': 'suspended' });
  }

  /** Ends the span when the work succeeds or fails. */
  follow<Result>(work: Promise<Result>): Promise<Result> {
    return this.#span === undefined ? work : endedWith(this.#span, work);
  }

  #step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    return endedWith(this.#parts.tracer?.start(name, { parent: this.context }), work());
  }
}

async function endedWith<Result>(span: Span | undefined, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    span?.fail(isHostError(error) ? error.code : 'internal');
    throw error;
  } finally {
    span?.end();
  }
}
