import type { IsolationLevel } from '../domain/isolation.js';
import type { UpstreamHealth } from '../domain/upstream.js';
import { Session, type SessionOptions, type SessionParts } from './session.js';

/** How programs are cut off from the machine, seen to hold. */
export interface Isolation {
  readonly level: IsolationLevel;
  readonly description: string;
}

/** What we do for callers. Owns everything that was opened for them, and closes it. */
export class Host {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Tries the jail out, if nobody has yet. No program runs before that has gone well. Throws `jail_unavailable`. */
  async open(): Promise<Isolation> {
    const { sandbox } = await this.#parts.runtime.open();
    const { level, description } = sandbox.jail;
    return { level, description };
  }

  openSession(options: SessionOptions): Session {
    return new Session(this.#parts, options);
  }

  /** Starts processes ahead of the first program, and asks every server for its tools. */
  async warm(): Promise<void> {
    const { sandbox } = await this.#parts.runtime.open();
    await Promise.all([sandbox.pool.warm(), this.#parts.catalog.refreshAll()]);
  }

  /** Asks every server for its tools now. */
  async refresh(): Promise<void> {
    await this.#parts.catalog.refreshAll();
  }

  health(): UpstreamHealth[] {
    return this.#parts.catalog.health();
  }

  async close(): Promise<void> {
    await Promise.all([this.#parts.runtime.close(), this.#parts.catalog.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
