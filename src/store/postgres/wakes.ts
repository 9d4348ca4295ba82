import type { Stop } from '../../lib/awaitable.js';
import type { Postgres, Sql } from './connection.js';
import { Listener } from './listener.js';

/** What hosts tell each other: a run can be resumed, or an approval has been decided. */
export type Wake = 'run' | 'approval';

const CHANNEL = 'codemode_wake';
/** Messages can be lost, so it is looked without one as well: rarely where they arrive, often where they do not. */
const LOOK_EVERY_MS = { live: 3_000, deaf: 250 } as const;

/** Wakes hosts that wait for something in the database. The connection that listens is opened with the first that waits. */
export class Wakes {
  readonly #postgres: Postgres;
  readonly #watchers = new Map<() => void, Wake>();
  #listener: Listener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  watch(kind: Wake, look: () => void): Stop {
    const watcher = () => look();
    this.#watchers.set(watcher, kind);
    this.#listener ??= new Listener(this.#postgres, {
      channel: CHANNEL,
      onMessage: (payload) => this.#tell(payload),
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

  /** Told when the transaction commits. */
  async wake(sql: Sql, kind: Wake): Promise<void> {
    await sql.query('SELECT pg_notify($1, $2)', [CHANNEL, kind]);
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

  #tell(kind?: string): void {
    if (kind === undefined) this.#lookedAt = performance.now();
    for (const [watcher, wanted] of this.#watchers) if (kind === undefined || kind === wanted) watcher();
  }
}
