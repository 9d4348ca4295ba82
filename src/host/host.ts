import type { IsolationLevel } from '../domain/isolation.js';
import type { UpstreamHealth } from '../domain/upstream.js';
import { Session, type SessionOptions, type SessionParts } from './session.js';

/** What we do for callers. Owns everything that was opened for them, and closes it. */
export class Host {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  get isolation(): IsolationLevel {
    return this.#parts.sandbox.jail.level;
  }

  get isolationDescription(): string {
    return this.#parts.sandbox.jail.description;
  }

  openSession(options: SessionOptions): Session {
    return new Session(this.#parts, options);
  }

  /** Starts processes ahead of the first program, and asks every server for its tools. */
  async warm(): Promise<void> {
    await Promise.all([this.#parts.sandbox.pool.warm(), this.#parts.catalog.refreshAll()]);
  }

  /** Asks every server for its tools now. */
  async refresh(): Promise<void> {
    await this.#parts.catalog.refreshAll();
  }

  health(): UpstreamHealth[] {
    return this.#parts.catalog.health();
  }

  async close(): Promise<void> {
    await Promise.all([this.#parts.sandbox.close(), this.#parts.catalog.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
