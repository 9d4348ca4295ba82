import type { ResourceUsage } from '../domain/execution.js';

/** What has just happened, for whoever counts it. Nothing of what programs say or get is in it. */
export type TelemetryEvent =
  | {
      readonly type: 'run';
      readonly profile: string;
      readonly isSuccess: boolean;
      readonly durationMs: number;
      readonly usage: ResourceUsage;
    }
  | { readonly type: 'call'; readonly server: string; readonly isSuccess: boolean; readonly durationMs: number };

/** Tells listeners. Without any it costs nothing. */
export class Telemetry {
  readonly #listeners = new Set<(event: TelemetryEvent) => void>();

  onEvent(listener: (event: TelemetryEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: TelemetryEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
