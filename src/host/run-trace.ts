import { isHostError } from '../domain/errors.js';
import type { Outcome, ResourceUsage } from '../domain/execution.js';
import { SPANS, type Span, type TraceContext, type Tracer } from '../domain/trace.js';
import type { Telemetry } from './telemetry.js';

export interface TraceParts {
  readonly telemetry: Telemetry;
  /** Absent where nobody wants traces. */
  readonly tracer?: Tracer;
}

export interface TracedRun {
  readonly runId: string;
  readonly profile: string;
  /** The step of a trace that it is a part of. */
  readonly parent?: TraceContext | undefined;
  /** The id of its trace where it is a part of none, and somebody was told. */
  readonly traceId?: string | undefined;
  /** It slept, and goes on. */
  readonly isWoken?: boolean;
}

/** The steps of one run, for those who watch. Where nobody does, this is a few comparisons. */
export class RunTrace {
  readonly #parts: TraceParts;
  readonly #run: TracedRun;
  readonly #span: Span | undefined;

  constructor(parts: TraceParts, run: TracedRun) {
    this.#parts = parts;
    this.#run = run;
    const { runId, profile, parent, traceId, isWoken } = run;
    this.#span = parts.tracer?.start(SPANS.run, {
      parent,
      ...(traceId === undefined ? {} : { traceId }),
      attributes: { 'codemode.run.id': runId, 'codemode.profile': profile, 'codemode.run.woken': isWoken },
    });
  }

  /** What its calls are parts of. */
  get context(): TraceContext | undefined {
    return this.#span?.context;
  }

  /** Connects what the program is about to use. */
  prepare<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#span === undefined ? work() : this.#step(SPANS.prepare, work);
  }

  /** From the wish for a place to the start of the program in it. */
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

  /** The program has come to an end, good or bad. */
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
      ...(traceId === undefined ? {} : { traceId }),
    });
    // Names and messages of what was thrown are the program's own words: they may hold anything.
    if (!isSuccess) this.#span?.fail(outcome.failure.kind);
    this.#span?.set({
      'codemode.run.outcome': outcome.status,
      'codemode.run.limit': isSuccess ? undefined : outcome.failure.limit,
      'codemode.run.cpu_ms': usage.cpuMs,
    });
  }

  /** It sleeps until a person has decided. */
  asleep(): void {
    this.#span?.set({ 'codemode.run.outcome': 'asleep' });
  }

  /** Ends the span when the work is over, whatever comes of it. */
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
