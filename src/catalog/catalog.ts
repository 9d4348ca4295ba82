import type { Tool } from '../domain/tool.js';
import type { UpstreamHealth, UpstreamIdentity } from '../domain/upstream.js';
import type { CachedListing, CatalogCache } from '../store/catalog-cache.js';
import type { RegistryEvent, UpstreamRegistry } from '../upstream/registry.js';
import { exportNames, modulePaths, withoutDuplicates } from './names.js';
import { createSearchIndex, type SearchHit, type SearchIndex, type SearchOptions } from './search.js';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from './snapshot.js';

export interface CatalogOptions {
  readonly registry: UpstreamRegistry;
  readonly cache?: CatalogCache;
  /** Identifies how a server is reached; a cached listing of another one is not used. */
  readonly fingerprintOf: (serverId: string) => string;
  /** The user's own words about a server. */
  readonly descriptionOf?: (serverId: string) => string | undefined;
  /** A listing older than this is asked for again, in the background. */
  readonly ttlMs: number;
  /** Takes out of a server's words what nobody may see, before they are kept, shown or written to disk. */
  readonly clean?: <Value>(value: Value) => Value;
}

/** How long a program that is about to start waits for servers whose tools are not known yet or have changed. */
const PREPARE_TIMEOUT_MS = 10_000;
const MAX_PARALLEL_LISTINGS = 16;
/** Servers may list 100,000 tools; more than this of one server is more than any agent can use, and costs every run. */
const MAX_TOOLS_PER_SERVER = 20_000;
const MAX_DESCRIPTION_CHARACTERS = 400;

/** Said of a server that is still starting when a program begins. */
const NOT_ASKED = 'it has not said yet which tools it has; try again in a few seconds';

interface Entry {
  listing: CachedListing | undefined;
  problem: string | undefined;
  /** Its tools may be others than the ones listed. */
  isStale: boolean;
  refreshing: Promise<void> | undefined;
}

/** The merged view over all upstreams: what exists, under which names, and what is like what somebody asked for. */
export class Catalog {
  readonly #options: CatalogOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();
  readonly #stopListening: () => void;
  #snapshot: CatalogSnapshot | undefined;
  #version = 0;
  #index: { readonly version: number; readonly search: SearchIndex } | undefined;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: CatalogOptions) {
    this.#options = options;
    for (const id of options.registry.ids()) this.#entries.set(id, newEntry());
    this.#stopListening = options.registry.onEvent((event) => this.#heard(event));
  }

  /** Takes what is on disk. Nothing is connected. */
  async load(): Promise<void> {
    const { cache, fingerprintOf } = this.#options;
    if (cache === undefined) return;
    await Promise.all(
      [...this.#entries].map(async ([id, entry]) => {
        entry.listing ??= await cache.read(id, fingerprintOf(id));
        entry.isStale = entry.listing !== undefined;
      }),
    );
    this.#changed();
  }

  /** Asks every server for its tools. One that fails is remembered with the reason; the others are not held up. */
  async refreshAll(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.refresh(id)));
  }

  /** Asks one server for its tools. Asked twice at the same time, it is asked once. */
  refresh(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return Promise.resolve();
    entry.refreshing ??= this.#list(id, entry).finally(() => {
      entry.refreshing = undefined;
    });
    return entry.refreshing;
  }

  /**
   * Makes ready for a program: servers that were never listed, or said that their tools have changed, are asked first.
   * One that does not answer in time is left as it was.
   */
  async prepare(paths: readonly string[] = []): Promise<CatalogSnapshot> {
    const wanted = new Set(paths.map((path) => this.snapshot().serverByPath.get(path)?.id));
    const urgent = [...this.#entries].filter(
      ([id, entry]) =>
        (entry.listing === undefined && entry.problem === undefined) ||
        (entry.isStale && this.#isConnected(id)) ||
        wanted.has(id),
    );
    if (urgent.length > 0) {
      const all = Promise.all(urgent.map(([id]) => this.refresh(id)));
      await Promise.race([all, new Promise((resolve) => setTimeout(resolve, PREPARE_TIMEOUT_MS).unref())]);
    }
    for (const [id, { listing }] of this.#entries) {
      if (listing !== undefined && Date.now() - listing.savedAtMs > this.#options.ttlMs) void this.refresh(id);
    }
    return this.snapshot();
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }

  /** Servers whose tools nobody has asked for yet, now or in an earlier process. */
  unlisted(): string[] {
    return [...this.#entries].flatMap(([id, { listing }]) => (listing === undefined ? [id] : []));
  }

  /** When the listing that was made longest ago was made; absent where there is none. */
  oldestListingMs(): number | undefined {
    const times = [...this.#entries.values()].flatMap(({ listing }) => listing?.savedAtMs ?? []);
    return times.length === 0 ? undefined : times.reduce((oldest, time) => Math.min(oldest, time));
  }

  /** Drops what was known of every server, on disk too. */
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

  search(query: string, options?: SearchOptions): SearchHit[] {
    const { version, servers } = this.snapshot();
    if (this.#index?.version !== version) {
      const documents = servers.flatMap(({ name, description, tools }) =>
        tools.map(({ tool }) => ({
          tool,
          serverName: name,
          ...(description === undefined ? {} : { serverDescription: description }),
        })),
      );
      this.#index = { version, search: createSearchIndex(documents) };
    }
    return this.#index.search.search(query, options);
  }

  /** Says when a snapshot differs from the one before. Returns the function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  health(): UpstreamHealth[] {
    const { registry, clean } = this.#options;
    return clean === undefined ? registry.health() : registry.health().map((each) => clean(each));
  }

  /** Ends the upstreams too. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#listeners.clear();
    await this.#options.registry.close();
  }

  #heard(event: RegistryEvent): void {
    const entry = this.#entries.get(event.id);
    if (event.type === 'registered' && entry === undefined) {
      this.#entries.set(event.id, newEntry());
      this.#changed();
    } else if (event.type === 'unregistered') {
      this.#entries.delete(event.id);
      this.#changed();
    } else if (event.type === 'changed' && entry !== undefined) {
      entry.isStale = true;
      // A listing under way may have been asked for before the change, and would be the last: then it is asked for again.
      void this.refresh(event.id).then(() => (entry.isStale ? this.refresh(event.id) : undefined));
    }
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
    await this.#turn();
    try {
      const { registry, cache, fingerprintOf } = this.#options;
      if (!registry.has(id)) return;
      const adapter = registry.get(id);
      // Before asking: a change that is announced while the answer is on its way must be asked for again.
      entry.isStale = false;
      const { tools } = await adapter.listTools();
      const { clean = (value) => value } = this.#options;
      // Clean before it is cut short: half a secret is not recognised.
      const { identity } = adapter.health();
      const listing = clean(listingOf(tools, identity && clean(identity)));
      const isNew =
        entry.problem !== undefined || entry.listing === undefined || !isSameListing(entry.listing, listing);
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
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  /** Starting a thousand servers at once makes each of them late. */
  async #turn(): Promise<void> {
    if (this.#running >= MAX_PARALLEL_LISTINGS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
  }

  #changed(): void {
    this.#snapshot = undefined;
    for (const listener of this.#listeners) listener();
  }

  #build(): CatalogSnapshot {
    const paths = modulePaths([...this.#entries.keys()]);
    const servers = [...this.#entries].map(([id, entry]) => this.#server(id, paths.get(id) ?? id, entry));
    return {
      version: ++this.#version,
      servers,
      serverByPath: new Map(servers.map((server) => [server.path, server])),
      toolByTarget: new Map(servers.flatMap(({ tools }) => tools.map((tool) => [tool.target, tool]))),
    };
  }

  #server(id: string, path: string, { listing, problem: reason }: Entry): CatalogServer {
    const problem = reason ?? (listing === undefined ? NOT_ASKED : undefined);
    const description = this.#options.descriptionOf?.(id) ?? listing?.description;
    const tools: CatalogTool[] = [];
    const server: CatalogServer = {
      id,
      path,
      name: listing?.name ?? id,
      ...(listing?.version === undefined ? {} : { version: listing.version }),
      ...(description === undefined ? {} : { description }),
      isAvailable: problem === undefined,
      ...(problem === undefined ? {} : { problem }),
      tools,
    };
    const listed = listing?.tools.slice(0, MAX_TOOLS_PER_SERVER) ?? [];
    const names = exportNames(listed.map(({ name }) => name));
    for (const tool of listed) {
      tools.push({ tool, exportName: names.get(tool.name) ?? tool.name, target: `${path}/${tool.name}`, server });
    }
    return server;
  }
}

function newEntry(): Entry {
  return { listing: undefined, problem: undefined, isStale: false, refreshing: undefined };
}

function listingOf(tools: readonly Tool[], identity: UpstreamIdentity | undefined): CachedListing {
  const instructions = identity?.instructions?.trim().slice(0, MAX_DESCRIPTION_CHARACTERS);
  return {
    tools: withoutDuplicates(tools).tools,
    ...(identity?.name === undefined ? {} : { name: identity.name }),
    ...(identity?.version === undefined ? {} : { version: identity.version }),
    ...(instructions === undefined || instructions === '' ? {} : { description: instructions }),
    savedAtMs: Date.now(),
  };
}

function isSameListing(left: CachedListing, right: CachedListing): boolean {
  return JSON.stringify({ ...left, savedAtMs: 0 }) === JSON.stringify({ ...right, savedAtMs: 0 });
}
