import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { backoffMs } from '../../../lib/async/backoff.js';
import { pause } from '../../../lib/async/pause.js';
import type { Postgres } from '../database/connection.js';

const RECONNECT = { firstMs: 100, maxMs: 5_000, factor: 2 };
/** How long our own message may take to come back before the connection counts as deaf. */
const PROBE_MS = 2_000;
/** A silently cut link is detected by a statement that gets no answer. */
const CHECK_EVERY_MS = 10_000;

export interface ListenerOptions {
  readonly channel: string;
  onMessage(payload: string): void;
  /** Messages may have been missed: look for what they would have announced. */
  onConnected(): void;
}

/**
 * Receives what other hosts announce with `pg_notify`. Only a hint: messages are lost while the connection is down, and behind a
 * transaction pooler none arrives at all. So a listening host polls as well; `isLive` tells how rarely is enough.
 */
export class Listener {
  readonly #database: Postgres;
  readonly #options: ListenerOptions;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #isLive = false;

  constructor(database: Postgres, options: ListenerOptions) {
    if (!/^[a-z_]{1,63}$/.test(options.channel)) throw new RangeError('a channel is lower-case letters and _');
    this.#database = database;
    this.#options = options;
    this.#ended = this.#run();
  }

  /** Whether a message from another host would arrive now. */
  get isLive(): boolean {
    return this.#isLive;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    for (let attempt = 1; !this.#stop.signal.aborted; attempt += 1) {
      const client = this.#database.client();
      try {
        await client.connect();
        await this.#listen(client, () => {
          attempt = 0;
        });
      } catch {
        // The database is down or the link is cut: retry below.
      }
      this.#isLive = false;
      client.end().catch(() => {});
      await pause(backoffMs(attempt, RECONNECT), this.#stop.signal, { isRef: false });
    }
  }

  /** Returns when the connection is lost, or when no messages arrive on it. */
  async #listen(client: Client, onLive: () => void): Promise<void> {
    const { channel, onMessage, onConnected } = this.#options;
    const lost = new AbortController();
    const stop = (): void => lost.abort();
    client.on('error', stop);
    client.on('end', stop);
    this.#stop.signal.addEventListener('abort', stop);
    const probe = `probe ${randomUUID()}`;
    client.on('notification', ({ payload = '' }) => {
      if (payload === probe) {
        this.#isLive = true;
        onLive();
        onConnected();
      } else if (!payload.startsWith('probe ')) onMessage(payload);
    });
    try {
      await client.query(`LISTEN ${channel}`);
      // Sent over another connection: a pooler may deliver only the notifications of its own statement.
      await this.#database.query('SELECT pg_notify($1, $2)', [channel, probe]);
      await pause(PROBE_MS, lost.signal, { isRef: false });
      while (this.#isLive && !lost.signal.aborted) {
        await pause(CHECK_EVERY_MS, lost.signal, { isRef: false });
        if (!lost.signal.aborted) await client.query('SELECT 1');
      }
    } finally {
      this.#stop.signal.removeEventListener('abort', stop);
    }
  }
}
