import type { CallObserver } from '../broker/call-observer.js';
import type { ResourceUsage } from '../domain/run.js';

/** Events that metrics count. They contain no program data. */
export type TelemetryEvent =
  /** A program started in its process after this wait. */
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
  /** A tool call was answered. `upstream`: one request to a server, of which a call may need several. */
  | {
      readonly type: 'call' | 'upstream';
      readonly server: string;
      readonly isSuccess: boolean;
      readonly durationMs: number;
    }
  /** Something about telemetry itself that a person should know. */
  | { readonly type: 'problem'; readonly message: string };

/** Notifies listeners. Costs nothing without listeners. */
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
