import type { CallObserver } from '../broker/call-observer.js';
import type { ResourceUsage } from '../domain/run.js';

/** Events that metrics count. They contain no data of programs. */
export type TelemetryEvent =
  /** A program got its place and its process, after this time. */
  | { readonly type: 'start'; readonly profile: string; readonly durationMs: number }
  /** A program has ended. */
  | {
      readonly type: 'run';
      readonly runId: string;
      readonly traceId?: string;
      readonly profile: string;
      readonly isSuccess: boolean;
      readonly durationMs: number;
      readonly usage: Partial<ResourceUsage>;
    }
  /** A tool call was answered; `upstream`: a server was asked, which may happen several times for one call. */
  | {
      readonly type: 'call' | 'upstream';
      readonly server: string;
      readonly isSuccess: boolean;
      readonly durationMs: number;
    }
  /** Something about telemetry itself that a person should know. */
  | { readonly type: 'problem'; readonly message: string };

/** Tells listeners. Without any it costs nothing. */
export class Telemetry implements CallObserver {
  readonly #listeners = new Set<(event: TelemetryEvent) => void>();

  onEvent(listener: (event: TelemetryEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: TelemetryEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  onCall(server: string, isSuccess: boolean, durationMs: number): void {
    this.emit({ type: 'call', server, isSuccess, durationMs });
  }

  onUpstreamCall(server: string, isSuccess: boolean, durationMs: number): void {
    this.emit({ type: 'upstream', server, isSuccess, durationMs });
  }
}
