import type { UpstreamAuthorizer } from '../domain/authorization.js';
import { HostError } from '../domain/errors.js';
import { type Audience, NOBODY } from '../domain/question.js';
import type { McpDefinition, ToolListing, UpstreamDefinition, UpstreamHealth } from '../domain/upstream.js';
import { ifDefined, omitUndefined } from '../lib/omit-undefined.js';
import type { Adapter, AdapterEvent } from './adapter.js';
import { McpUpstream } from './mcp/mcp-upstream.js';
import type { ReadLimits } from './mcp/read-budget.js';
import { ChildGroups } from './mcp/stdio/stdio-groups.js';
import { OpenApiUpstream } from './openapi/openapi-upstream.js';

/** A longer message is a mistake or an attack: the engine's strings end at 512 MB. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
/** Servers that are started at the same time. More would only slow each of them down. */
const MAX_PARALLEL_LISTINGS = 8;

export interface RegistryOptions {
  /** How we introduce ourselves to servers. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** The environment that every server process inherits. */
  readonly baseEnvironment: Readonly<Record<string, string>>;
  /** Which kinds of questions the client can answer. */
  readonly audience?: Audience;
  /** The longest message that is read; a server that sends a longer one is cut off. */
  readonly maxMessageBytes?: number;
  /** The budget for unsolicited messages from a server. Absent: the defaults. */
  readonly readLimits?: ReadLimits;
  /** Finds the authorizer that provides the tokens for a server, if it has one. */
  readonly authorizerFor?: (definition: UpstreamDefinition) => Promise<UpstreamAuthorizer | undefined>;
}

export type RegistryEvent =
  | { readonly type: 'registered' | 'unregistered'; readonly id: string }
  | ({ readonly id: string } & AdapterEvent);

export interface ListedUpstream {
  readonly id: string;
  readonly listing?: ToolListing;
  /** Why there is no listing. */
  readonly problem?: HostError;
}

/** All upstreams. None is connected before it is used. */
export class UpstreamRegistry {
  readonly #options: RegistryOptions;
  /** The processes that end with this one, however it ends. Other parts register their processes here too. */
  readonly childGroups = new ChildGroups();
  readonly #adapters = new Map<string, Adapter>();
  /** Built-in upstreams that no listing shows; their callers know the names. */
  readonly #hidden = new Map<string, Adapter>();
  readonly #listeners = new Set<(event: RegistryEvent) => void>();
  #isClosed = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Adds a server of the configuration. Throws `bad_input` when the name is taken. */
  register({ target, ...common }: UpstreamDefinition): Adapter {
    if (target.kind === 'openapi') return this.add(new OpenApiUpstream({ ...common, target }));
    const definition: McpDefinition = { ...common, target };
    const { clientInfo, baseEnvironment, audience = NOBODY, maxMessageBytes = MAX_MESSAGE_BYTES } = this.#options;
    const { authorizerFor, readLimits } = this.#options;
    const options = {
      clientInfo,
      baseEnvironment,
      audience,
      maxMessageBytes,
      groups: this.childGroups,
      ...omitUndefined({
        readLimits,
        openAuthorizer: ifDefined(authorizerFor, (authorizerFor) => () => authorizerFor(definition)),
      }),
    };
    return this.add(new McpUpstream(definition, options));
  }

  /** Adds an upstream of any kind. */
  add(adapter: Adapter): Adapter {
    if (this.#isClosed) throw new HostError('shutting_down', 'the host is closing, so no server can be added');
    if (this.#adapters.has(adapter.id)) {
      throw new HostError(
        'bad_input',
        `a server called ${JSON.stringify(adapter.id)} exists already; unregister it first or choose another name`,
      );
    }
    this.#adapters.set(adapter.id, adapter);
    adapter.onEvent((event) => this.#emit({ id: adapter.id, ...event }));
    this.#emit({ type: 'registered', id: adapter.id });
    return adapter;
  }

  /** Adds an upstream that can be called but is not listed. */
  addHidden(adapter: Adapter): void {
    this.#hidden.set(adapter.id, adapter);
  }

  /** Removes and closes an upstream. Its open calls end as lost. */
  async unregister(id: string): Promise<void> {
    const adapter = this.get(id);
    if (this.#hidden.has(id)) throw new HostError('bad_input', `${id} is part of codemode and cannot be removed`);
    this.#adapters.delete(id);
    await adapter.close();
    this.#emit({ type: 'unregistered', id });
  }

  /** Throws `not_found`, listing the known names. */
  get(id: string): Adapter {
    const adapter = this.#adapters.get(id) ?? this.#hidden.get(id);
    if (adapter !== undefined) return adapter;
    const known = [...this.#adapters.keys()].slice(0, 20).join(', ');
    throw new HostError(
      'not_found',
      `there is no server called ${JSON.stringify(id)}; there are: ${known === '' ? 'none' : known}`,
    );
  }

  has(id: string): boolean {
    return this.#adapters.has(id) || this.#hidden.has(id);
  }

  ids(): string[] {
    return [...this.#adapters.keys()];
  }

  health(): UpstreamHealth[] {
    return [...this.#adapters.values()].map((adapter) => adapter.health());
  }

  /**
   * The health after a fresh check: a dead HTTP server has no connection whose end would reveal it. Waits for servers that do not
   * answer, but not for long.
   */
  async checkedHealth(): Promise<UpstreamHealth[]> {
    await Promise.all([...this.#adapters.values()].map((adapter) => adapter.check?.()));
    return this.health();
  }

  /** The tools of every upstream. An unreachable upstream is reported, and does not affect the others. */
  async listAll(signal?: AbortSignal): Promise<ListedUpstream[]> {
    const waiting = [...this.#adapters.values()].entries();
    const listed: ListedUpstream[] = [];
    const work = async (): Promise<void> => {
      for (const [index, adapter] of waiting) listed[index] = await listOne(adapter, signal);
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL_LISTINGS }, work));
    return listed;
  }

  /** Returns the function that stops listening. */
  onEvent(listener: (event: RegistryEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Closes every upstream and ends every process that was started for one. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const adapters = [...this.#adapters.values(), ...this.#hidden.values()];
    this.#adapters.clear();
    this.#hidden.clear();
    await Promise.allSettled(adapters.map((adapter) => adapter.close()));
    this.childGroups.killAll();
    this.#listeners.clear();
  }

  #emit(event: RegistryEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

async function listOne(adapter: Adapter, signal: AbortSignal | undefined): Promise<ListedUpstream> {
  try {
    return { id: adapter.id, listing: await adapter.listTools(signal) };
  } catch (error) {
    signal?.throwIfAborted();
    const problem =
      error instanceof HostError ? error : new HostError('upstream_unavailable', String(error), { cause: error });
    return { id: adapter.id, problem };
  }
}
