import type { Stop } from '../../../lib/async/awaitable.js';
import type { Postgres, Sql } from '../database/connection.js';
import { Listener } from './listener.js';

const CHANNEL = 'codemode_wake';
/** Messages can be lost, so the host also polls: rarely if messages arrive, often if they do not. */
const LOOK_EVERY_MS = { live: 3_000, deaf: 250 } as const;

/** Tells all hosts that an approval was decided, when the transaction commits. */
export async function announce(sql: Sql): Promise<void> {
  await sql.query(`SELECT pg_notify('${CHANNEL}', '')`);
}

/**
 * Notifies the hosts in which a run waits for a decision. All hosts get each message: only the host that has the run knows which
 * decision it waits for, so this is not a job for one host. The listening connection is opened with the first watcher.
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
