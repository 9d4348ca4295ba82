import { HostError } from '../domain/errors.js';
import type { UpstreamHealth, UpstreamOutcome } from '../domain/upstream.js';
import type { Adapter } from './adapter.js';

/**
 * Stands for a server whose configuration entry cannot be used. It has no tools, and every use reports the reason. Nothing is
 * started and nothing is sent.
 */
export class DisabledUpstream implements Adapter {
  readonly id: string;
  readonly kind = 'mcp';
  readonly #reason: string;
  readonly #since = new Date();

  constructor(id: string, reason: string) {
    this.id = id;
    this.#reason = reason;
  }

  async connect(): Promise<never> {
    throw this.#error();
  }

  async listTools(): Promise<never> {
    throw this.#error();
  }

  async call(): Promise<UpstreamOutcome> {
    return { status: 'failed', failure: { kind: 'not_sent', message: this.#reason, mayHaveRun: false } };
  }

  health(): UpstreamHealth {
    return { id: this.id, state: 'disabled', reason: this.#reason, since: this.#since, losses: 0, warnings: [] };
  }

  onEvent(): () => void {
    return () => {};
  }

  async close(): Promise<void> {}

  #error(): HostError {
    return new HostError('upstream_unavailable', this.#reason);
  }
}
