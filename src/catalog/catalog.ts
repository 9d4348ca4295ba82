import type { Tool } from '../domain/tool.js';
import { connectTimeoutKey, type UpstreamHealth } from '../domain/upstream.js';
import { deferred } from '../lib/async/deferred.js';
import { inSeconds } from '../lib/async/seconds.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { CatalogCache } from '../store/catalog-cache.js';
import type { RegistryEvent, UpstreamRegistry } from '../upstream/registry.js';
import {
  cleanListing,
  type Entry,
  isSameListing,
  isStale,
  isStormy,
  listingOf,
  newEntry,
  outdatedTools,
  relistingWaitMs,
  textOfTool,
} from './catalog-entry.js';
import { catalogServer } from './catalog-server.js';
import { ListingQueue } from './listing-queue.js';
import { modulePaths } from './names.js';
import { createSearchIndex, type SearchHit, type SearchIndex, type SearchOptions } from './search.js';
import type { CatalogSnapshot } from './snapshot.js';

export interface CatalogOptions {
  readonly registry: UpstreamRegistry;
  readonly cache?: CatalogCache;
  /** Identifies how a server is reached. A cached listing with another fingerprint is not used. */
  readonly fingerprintOf: (serverId: string) => string;
  /** The user's own description of a server. */
  readonly descriptionOf?: (serverId: string) => string | undefined;
  /** An older listing is refreshed in the background. */
  readonly ttlMs: number;
  /** How long a server may take to start. */
  readonly connectTimeoutMsOf?: (serverId: string) => number | undefined;
  /** The notice to show if no server is configured. */
  readonly emptyNotice?: string;
  /** How long a program waits for servers that it names. If absent, 10 s, because its client waits too. */
  readonly patienceMs?: number;
  /** Redacts a server's texts before they are kept, shown or written to disk. */
  readonly clean?: <Value>(value: Value) => Value;
}

/** How long a program that is about to start waits for the servers that it names. */
const PREPARE_TIMEOUT_MS = 10_000;
/** Bursts of announced changes cause one request. A program does not wait for this delay: it asks at once. */
const CHANGE_DELAY_MS = 50;
/** A server that announces a change whenever it is asked would be asked forever. */
const MAX_LISTING_ROUNDS = 3;

/** Receives the servers that are still waited for. */
export type WaitProgress = (waitingFor: readonly string[]) => void;

export interface SettleOptions {
  readonly onProgress?: WaitProgress;
  readonly hasChanged?: boolean;
}

export interface WaitOptions {
  readonly onProgress?: WaitProgress;
  /** Called after each answer. Returns whether that is enough. */
  readonly until?: () => boolean;
}

/** The merged view over all upstreams: the tools, their names, and search. */
export class Catalog {
  readonly #options: CatalogOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();
  readonly #stopListening: () => void;
  #snapshot: CatalogSnapshot | undefined;
  #version = 0;
  readonly #indexes = new WeakMap<CatalogSnapshot, SearchIndex>();
  readonly #changes = new Map<string, NodeJS.Timeout>();
  readonly #queue = new ListingQueue();

  constructor(options: CatalogOptions) {
    this.#options = options;
    for (const id of options.registry.ids()) this.#entries.set(id, newEntry(disabledReason(options.registry, id)));
    this.#stopListening = options.registry.onEvent((event) => this.#heard(event));
  }

  /** Loads the cached listings from disk. Connects to no server. */
  async load(): Promise<void> {
    const { cache, fingerprintOf } = this.#options;
    if (cache === undefined) return;
    await Promise.all(
      [...this.#entries].map(async ([id, entry]) => {
        entry.listing ??= await cache.read(id, fingerprintOf(id));
        if (entry.listing !== undefined) entry.changes += 1;
      }),
    );
    this.#changed();
  }

  /** Asks every server for its tools. A failure is stored with its reason and does not delay the other servers. */
  async refreshAll(onAsked: (id: string) => void = () => {}): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.refresh(id).then(() => onAsked(id))));
  }

  /** Asks one server for its tools. Concurrent requests share one listing. */
  refresh(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return Promise.resolve();
    if (entry.refreshing === undefined) {
      entry.askedAtMs = performance.now();
      if (entry.listing !== undefined) entry.relistings.take(1, entry.askedAtMs);
      entry.refreshing = this.#list(id, entry).finally(() => {
        entry.refreshing = undefined;
        entry.askedAtMs = undefined;
      });
    }
    return entry.refreshing;
  }

  /**
   * Prepares for a program that names these servers: those whose tools are unknown or have changed are asked first. A server that
   * does not answer in time keeps its state. No other server is waited for. `isConnecting`: servers with known tools are connected
   * too.
   */
  async prepare(paths: readonly string[], { isConnecting = false } = {}): Promise<CatalogSnapshot> {
    const { serverByPath } = this.snapshot();
    const ids = new Set(paths.flatMap((path) => serverByPath.get(path)?.id ?? []));
    await this.wait(
      [...ids].filter((id) => this.mustAsk(id) || (isConnecting && !this.#isConnected(id))),
      this.#options.patienceMs ?? PREPARE_TIMEOUT_MS,
    );
    for (const [id, { listing }] of this.#entries) {
      if (listing !== undefined && Date.now() - listing.savedAtMs > this.#options.ttlMs) void this.refresh(id);
    }
    return this.snapshot();
  }

  /** The same for every server. */
  async prepareAll(): Promise<CatalogSnapshot> {
    return this.prepare(this.snapshot().servers.map(({ path }) => path));
  }

  /**
   * Waits until each starting server has had `withinMs` to answer; with `hasChanged` also for changed tools. A later call waits for
   * less, and finally not at all: a server that hangs delays nobody twice.
   */
  async settle(withinMs: number, { onProgress, hasChanged = false }: SettleOptions = {}): Promise<CatalogSnapshot> {
    const now = performance.now();
    const leftMs = (id: string) => (this.#entries.get(id)?.askedAtMs ?? now) + withinMs - now;
    const isWaitedFor = (id: string) => (hasChanged ? this.#isUndecided(id) : this.#isStarting(id));
    const ids = this.ids().filter((id) => isWaitedFor(id) && leftMs(id) > 0);
    await this.wait(ids, Math.max(0, ...ids.map(leftMs)), omitUndefined({ onProgress }));
    return this.snapshot();
  }

  /** Asks these servers and waits for at most `withinMs`. Returns those that have not answered. */
  async wait(ids: readonly string[], withinMs: number, { onProgress, until }: WaitOptions = {}): Promise<string[]> {
    if (ids.length === 0) return [];
    const open = new Set(ids);
    const over = deferred<void>();
    for (const id of ids)
      void this.#refreshFully(id).then(() => {
        open.delete(id);
        onProgress?.([...open]);
        if (open.size === 0 || until?.() === true) over.resolve();
      });
    onProgress?.([...open]);
    const timer = setTimeout(() => over.resolve(), withinMs);
    await over.promise.finally(() => clearTimeout(timer));
    return [...open];
  }

  /**
   * Why a call must not use the known definition of this tool; undefined if it may. A server that was not asked in this process is
   * asked first: policy and approvals apply to the current tool, not to the one that an earlier process saw.
   */
  whyOutdated(tool: Tool): Promise<string | undefined> | undefined {
    const entry = this.#entries.get(tool.serverId);
    const isCurrent = entry === undefined || (entry.isConfirmed && !entry.outdated.has(tool.name));
    return isCurrent ? undefined : this.#whyOutdated(tool, entry);
  }

  async #whyOutdated(tool: Tool, entry: Entry): Promise<string | undefined> {
    if (!entry.isConfirmed) await this.wait([tool.serverId], this.#options.patienceMs ?? PREPARE_TIMEOUT_MS);
    if (!entry.isConfirmed) return `its server does not list its tools: ${entry.problem ?? 'it has not answered yet'}`;
    const isOutdated = entry.outdated.get(tool.name) === textOfTool(tool);
    return isOutdated ? 'its server has changed or removed it since it was listed' : undefined;
  }

  /** Whether a program that names this server has to wait for it: its tools are unknown in this process, or have changed. */
  mustAsk(id: string): boolean {
    const entry = this.#entries.get(id);
    if (entry?.listing === undefined || this.#isUndecided(id)) return true;
    return !entry.isConfirmed && entry.problem === undefined;
  }

  /** The status of a starting server, in words for people and models. */
  startingNote(id: string): string {
    const { connectTimeoutMsOf, registry, clean = (value) => value } = this.#options;
    const { askedAtMs } = this.#entries.get(id) ?? {};
    const waited = askedAtMs === undefined ? '' : `, no answer for ${inSeconds(performance.now() - askedAtMs)}`;
    const limitMs = connectTimeoutMsOf?.(id);
    const limit = limitMs === undefined ? '' : ` (it is given ${inSeconds(limitMs)}: ${connectTimeoutKey(id)})`;
    const { reason } = registry.has(id) ? registry.get(id).health() : {};
    return clean(`it is still starting${waited}${limit}${reason === undefined ? '' : `; ${reason}`}`);
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }

  /** Servers without a listing from this process or an earlier one. */
  unlisted(): string[] {
    return [...this.#entries].flatMap(([id, { listing }]) => (listing === undefined ? [id] : []));
  }

  /** The time of the oldest listing; absent if there is none. */
  oldestListingMs(): number | undefined {
    const times = [...this.#entries.values()].flatMap(({ listing }) => listing?.savedAtMs ?? []);
    return times.length === 0 ? undefined : times.reduce((oldest, time) => Math.min(oldest, time));
  }

  /** Drops the listings of all servers, on disk too. */
  async forget(): Promise<void> {
    const { cache } = this.#options;
    for (const [id, entry] of this.#entries) {
      entry.listing = undefined;
      await cache?.remove(id);
    }
    this.#changed();
  }

  snapshot(): CatalogSnapshot {
    this.#snapshot ??= this.#build();
    return this.#snapshot;
  }

  /** `within`: the snapshot of a program. The program gets the same results during its whole run, and only tools that it sees. */
  search(query: string, options?: SearchOptions, within: CatalogSnapshot = this.snapshot()): SearchHit[] {
    const whole = within.whole ?? within;
    let index = this.#indexes.get(whole);
    if (index === undefined) {
      const documents = whole.servers.flatMap(({ name, description, tools }) =>
        tools.map(({ tool }) => ({
          tool,
          serverName: name,
          ...omitUndefined({ serverDescription: description }),
        })),
      );
      index = createSearchIndex(documents);
      this.#indexes.set(whole, index);
    }
    if (within.toolByTarget.size === whole.toolByTarget.size) return index.search(query, options);
    const seen = new Set([...within.toolByTarget.values()].map(({ tool }) => tool));
    return index.search(query, { ...options, isSeen: (tool) => seen.has(tool) });
  }

  /** Calls the listener whenever the snapshot changes. Returns the function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  health(): UpstreamHealth[] {
    return this.#cleaned(this.#options.registry.health());
  }

  /** Health after every connected server was checked. */
  async checkedHealth(): Promise<UpstreamHealth[]> {
    return this.#cleaned(await this.#options.registry.checkedHealth());
  }

  /** Closes the upstreams too. */
  async close(): Promise<void> {
    this.#stopListening();
    for (const timer of this.#changes.values()) clearTimeout(timer);
    this.#listeners.clear();
    await this.#options.registry.close();
  }

  #cleaned(health: UpstreamHealth[]): UpstreamHealth[] {
    const { clean } = this.#options;
    return clean === undefined ? health : health.map((each) => clean(each));
  }

  #heard(event: RegistryEvent): void {
    const entry = this.#entries.get(event.id);
    if (event.type === 'registered' && entry === undefined) {
      this.#entries.set(event.id, newEntry(disabledReason(this.#options.registry, event.id)));
      this.#changed();
    } else if (event.type === 'unregistered') {
      this.#entries.delete(event.id);
      this.#changed();
    } else if (event.type === 'changed' && entry !== undefined) {
      // Counted at once: a program that starts now and names this server waits for the new tools.
      entry.changes += 1;
      if (this.#changes.has(event.id)) return;
      const ask = () => {
        this.#changes.delete(event.id);
        if (isStale(entry)) void this.#refreshFully(event.id);
      };
      const delayMs = Math.max(CHANGE_DELAY_MS, relistingWaitMs(entry));
      this.#changes.set(event.id, setTimeout(ask, delayMs).unref());
    }
  }

  /** A listing in progress may have been requested before a change. Then the server is asked again. */
  async #refreshFully(id: string): Promise<void> {
    for (let round = 0; round < MAX_LISTING_ROUNDS; round++) {
      await this.refresh(id);
      const entry = this.#entries.get(id);
      if (entry === undefined || entry.problem !== undefined || !isStale(entry) || isStormy(entry)) return;
    }
  }

  #isUndecided(id: string): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined || !isStale(entry)) return this.#isStarting(id);
    // The tools of a server that announces changes all the time are never settled: those of its last listing are used.
    return this.#isStarting(id) || (this.#isConnected(id) && !isStormy(entry));
  }

  #isStarting(id: string): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && entry.listing === undefined && entry.problem === undefined;
  }

  /** Whether this server is waiting for a person to log in. */
  needsLogin(path: string): boolean {
    const id = this.snapshot().serverByPath.get(path)?.id;
    return this.health().some((each) => each.id === id && each.needsLogin === true);
  }

  #isConnected(id: string): boolean {
    const { registry } = this.#options;
    return registry.has(id) && registry.get(id).health().state === 'ready';
  }

  async #list(id: string, entry: Entry): Promise<void> {
    const leave = await this.#queue.take();
    try {
      const { registry, cache, fingerprintOf } = this.#options;
      if (!registry.has(id)) return;
      const adapter = registry.get(id);
      // Read before the request: a change that is announced while it is in flight requires another request.
      const { changes } = entry;
      const { tools } = await adapter.listTools();
      entry.listedChanges = changes;
      const { clean = (value) => value } = this.#options;
      // Redact before it is cut short: half a secret is not recognised.
      const { identity } = adapter.health();
      const listing = await cleanListing(listingOf(tools, identity && clean(identity)), clean);
      const isNew =
        entry.problem !== undefined || entry.listing === undefined || !(await isSameListing(entry.listing, listing));
      if (!entry.isConfirmed) entry.outdated = outdatedTools(entry.listing?.tools ?? [], listing.tools);
      entry.isConfirmed = true;
      entry.listing = listing;
      entry.problem = undefined;
      if (isNew) this.#changed();
      await cache?.write(id, fingerprintOf(id), listing);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const problem = this.#options.clean?.(reason) ?? reason;
      const isNews = entry.problem !== problem;
      entry.problem = problem;
      if (isNews) this.#changed();
    } finally {
      leave();
    }
  }

  #changed(): void {
    this.#snapshot = undefined;
    for (const listener of this.#listeners) listener();
  }

  #build(): CatalogSnapshot {
    const { emptyNotice } = this.#options;
    const paths = modulePaths([...this.#entries.keys()]);
    const servers = [...this.#entries].map(([id, entry]) =>
      catalogServer(id, paths.get(id) ?? id, entry, this.#options.descriptionOf?.(id)),
    );
    return {
      version: ++this.#version,
      servers,
      serverByPath: new Map(servers.map((server) => [server.path, server])),
      toolByTarget: new Map(servers.flatMap(({ tools }) => tools.map((tool) => [tool.target, tool]))),
      ...(servers.length > 0 || emptyNotice === undefined ? {} : { notice: emptyNotice }),
    };
  }
}

/** A disabled server never starts, so nobody is told to wait for it. */
function disabledReason(registry: UpstreamRegistry, id: string): string | undefined {
  const { state, reason = 'it is disabled' } = registry.get(id).health();
  return state === 'disabled' ? reason : undefined;
}
