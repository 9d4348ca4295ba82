import type { Stop } from '../../../lib/async/awaitable.js';
import type { Postgres, Sql } from '../database/connection.js';
import { Listener } from './listener.js';

const CHANNEL = 'codemode_wake';
/** Messages can be lost, so it is looked without one as well: rarely where they arrive, often where they do not. */
const LOOK_EVERY_MS = { live: 3_000, deaf: 250 } as const;

/** Tells all hosts, when the transaction commits, that a question was decided. */
export async function announce(sql: Sql): Promise<void> {
  await sql.query(`SELECT pg_notify('${CHANNEL}', '')`);
}

/**
 * Wakes the hosts in which a run waits for a decision. All of them hear of each: only the host that has the run knows which one it
 * waits for, so this is no job for one of them. The connection that listens is opened with the first that waits.
 */
export class Wakes {
  readonly #postgres: Postgres;
  readonly #watchers = new Set<() => void>();
  #listener: Listener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  watch(look: () => void): Stop {
    const watcher = () => look();
    this.#watchers.add(watcher);
    this.#listener ??= new Listener(this.#postgres, {
      channel: CHANNEL,
      onMessage: () => this.#tell(),
      onConnected: () => this.#tell(),
    });
    this.#timer ??= setInterval(() => this.#lookNow(), LOOK_EVERY_MS.deaf).unref();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#watchers.clear();
    await this.#listener?.close();
  }

  #lookNow(): void {
    const everyMs = this.#listener?.isLive === true ? LOOK_EVERY_MS.live : LOOK_EVERY_MS.deaf;
    if (performance.now() - this.#lookedAt >= everyMs) this.#tell();
  }

  #tell(): void {
    this.#lookedAt = performance.now();
    for (const watcher of this.#watchers) watcher();
  }
}
