import { randomBytes } from 'node:crypto';
import type { ConsoleEvent } from '../../domain/console/events.js';
import type { RunItem } from '../../domain/console/runs.js';
import type { ConsoleOptions } from './console-options.js';
import { serverViews } from './server-views.js';

/** Poll interval while a page watches: other processes write to the same state folder. */
const LOOK_EVERY_MS = 500;
/** Events kept for pages that reconnect after a short interruption. */
const MAX_KEPT = 500;
const MAX_LISTED = 100;

export interface FedEvent {
  readonly id: string;
  readonly event: ConsoleEvent;
}

/** Detects changes while a page watches. Events say what to load again, and contain little themselves. */
export class Feed {
  readonly #options: ConsoleOptions;
  readonly #watchers = new Set<(fed: FedEvent) => void>();
  #name = newName();
  #count = 0;
  #kept: FedEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #pending: ReadonlySet<string> = new Set();
  #runs = new Map<string, string>();
  #lastUpdateMs = 0;
  #live: ReadonlyMap<string, string> = new Map();
  #records = 0;
  #servers = '';
  #clients = '';

  constructor(options: ConsoleOptions) {
    this.#options = options;
  }

  /** The events after `lastId`. Undefined if they are no longer kept, so that the page has to load everything again. */
  since(lastId: string | undefined): readonly FedEvent[] | undefined {
    if (lastId === undefined || this.#timer === undefined) return undefined;
    if (lastId === `${this.#name}-0` && this.#kept[0]?.id === `${this.#name}-1`) return this.#kept;
    const at = this.#kept.findIndex(({ id }) => id === lastId);
    return at < 0 ? undefined : this.#kept.slice(at + 1);
  }

  /** The id of the newest event. A new watcher receives all later events. */
  get lastId(): string {
    return `${this.#name}-${this.#count}`;
  }

  /** Resolves when every later change is reported. */
  async watch(watcher: (fed: FedEvent) => void): Promise<() => void> {
    this.#watchers.add(watcher);
    if (this.#timer === undefined) {
      // Changes were not polled before this: there is a gap after the kept events.
      this.#name = newName();
      this.#count = 0;
      this.#kept = [];
      this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
      await this.#look({ isFirst: true });
    }
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #look({ isFirst = false } = {}): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const events = [
        ...(await this.#approvals()),
        ...(await this.#storedRuns(isFirst)),
        ...(await this.#liveRuns()),
        ...(await this.#audit()),
        ...this.#health(),
        ...(await this.#connected()),
      ];
      if (!isFirst) for (const event of events) this.#tell(event);
    } catch {
      // The disk may be full or the file busy: the next poll tries again.
    } finally {
      this.#isLooking = false;
    }
  }

  async #approvals(): Promise<ConsoleEvent[]> {
    const before = this.#pending;
    const pending = await this.#options.host.approvals.pendingIds();
    this.#pending = pending;
    const added = [...pending].filter((id) => !before.has(id));
    if (added.length === 0 && pending.size === before.size) return [];
    return [{ type: 'approvals', pending: pending.size, added: added.slice(0, MAX_LISTED) }];
  }

  async #storedRuns(isFirst: boolean): Promise<ConsoleEvent[]> {
    if (isFirst) {
      this.#lastUpdateMs = Date.now();
      this.#runs.clear();
    }
    // One millisecond back: another process may have written within the same millisecond.
    const found = await this.#options.history.changedSince(this.#lastUpdateMs - 1, MAX_LISTED + 1);
    const fresh = found.filter((run) => this.#runs.get(run.runId) !== stateOf(run));
    for (const run of found) this.#lastUpdateMs = Math.max(this.#lastUpdateMs, run.updatedAtMs);
    this.#runs = new Map(found.map((run) => [run.runId, stateOf(run)]));
    if (fresh.length === 0) return [];
    return [{ type: 'runs', runs: fresh.slice(0, MAX_LISTED), hasMore: found.length > MAX_LISTED }];
  }

  async #liveRuns(): Promise<ConsoleEvent[]> {
    const items = await this.#options.history.liveItems();
    const before = this.#live;
    this.#live = new Map(items.map((run) => [run.runId, stateOf(run)]));
    const fresh = items.filter((run) => before.get(run.runId) !== stateOf(run));
    return fresh.length === 0 ? [] : [{ type: 'runs', runs: fresh.slice(0, MAX_LISTED), hasMore: false }];
  }

  async #audit(): Promise<ConsoleEvent[]> {
    const log = await this.#options.audit?.();
    const count = (await log?.count()) ?? 0;
    if (count === this.#records) return [];
    this.#records = count;
    const runIds = [...this.#live.keys()].slice(0, MAX_LISTED);
    return [{ type: 'audit', count }, ...(runIds.length === 0 ? [] : [{ type: 'progress', runIds } as const])];
  }

  async #connected(): Promise<ConsoleEvent[]> {
    const clients = await this.#options.clients();
    const now = clients.map(
      ({ name, transport, lastAtMs, isHostUp }) => `${name} ${transport} ${lastAtMs} ${isHostUp}`,
    );
    if (now.join('\n') === this.#clients) return [];
    this.#clients = now.join('\n');
    return [{ type: 'clients' }];
  }

  #health(): ConsoleEvent[] {
    const servers = serverViews(this.#options);
    const now = JSON.stringify(
      servers.map(({ id, state, reason, toolCount, losses }) => [id, state, reason, toolCount, losses]),
    );
    if (now === this.#servers) return [];
    this.#servers = now;
    return [{ type: 'servers', servers: servers.slice(0, MAX_LISTED) }];
  }

  #tell(event: ConsoleEvent): void {
    const fed = { id: `${this.#name}-${++this.#count}`, event };
    this.#kept.push(fed);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
    for (const watcher of [...this.#watchers]) watcher(fed);
  }
}

function stateOf({ state, updatedAtMs, pendingApprovals }: RunItem): string {
  return `${state} ${updatedAtMs} ${pendingApprovals}`;
}

function newName(): string {
  return randomBytes(6).toString('base64url');
}
