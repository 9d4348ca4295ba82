import { hash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import type { ObservedTypesStore } from '../../store/observed-types.js';
import { asRows } from './observed-shape.js';
import { ObservedTypes } from './observed-types.js';
import { takesQuery } from './query-tool.js';
import { shapeOfResult } from './shape-of-result.js';
import { UsedServers } from './used-servers.js';

export interface LearnedTypesOptions {
  readonly file?: ObservedTypesStore;
  /** Identifies how a server is reached. The results of one server say nothing about another. */
  readonly fingerprintOf: (serverId: string) => string;
}

/**
 * The caller that sees results, and the contract: JSON text stays text in one contract and is parsed in another, so a type observed
 * under one would be wrong under the other.
 */
export interface Viewer {
  readonly caller: CallerId;
  readonly profile: string;
}

/** Older entries on disk belong to the contract `codemode`. No caller name contains a NUL. */
function viewerId({ caller, profile }: Viewer): CallerId {
  return profile === 'codemode' ? caller : (`${caller}\u0000${profile}` as CallerId);
}

/** Several results of one program are written together. */
const SAVE_DELAY_MS = 2_000;

/**
 * The result types that each caller has seen, across restarts, and the servers it uses. A shape belongs to one definition of one
 * tool of one server. It is forgotten if the address, the schema or the description changes.
 */
export class LearnedTypes {
  readonly #options: LearnedTypesOptions;
  readonly #types: ObservedTypes;
  readonly #used: UsedServers;
  readonly #definitions = new WeakMap<Tool, string>();
  readonly #looks = new WeakMap<Tool, typeof shapeOfResult>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  /** Starts with the data on disk. */
  static async open(options: LearnedTypesOptions): Promise<LearnedTypes> {
    return new LearnedTypes(options, await options.file?.read());
  }

  private constructor(options: LearnedTypesOptions, stored: JsonValue | undefined) {
    this.#options = options;
    this.#types = ObservedTypes.fromJson(stored);
    this.#used = new UsedServers(usedIn(stored));
  }

  /** Learns from one result, as the program saw it. */
  observe(viewer: Viewer, tool: Tool, value: JsonValue): void {
    const isNews = this.#types.observe(
      viewerId(viewer),
      tool.serverId,
      tool.name,
      value,
      this.#definitionOf(tool),
      this.#lookOf(tool),
    );
    if (isNews) this.#saveSoon();
  }

  /** Records that a run of this caller has ended and used these servers (paths). */
  noteUse(caller: CallerId, paths: ReadonlySet<string>): void {
    if (paths.size === 0) return;
    this.#used.note(caller, paths);
    this.#saveSoon();
  }

  /** The data for this caller's view of the tools. `usedBefore`: in how many runs, when the process started. */
  of(viewer: Viewer): {
    readonly observedTypeOf: (tool: Tool) => string | undefined;
    readonly usedBefore?: ReadonlyMap<string, number>;
  } {
    const usedBefore = this.#used.before(viewer.caller);
    const observedTypeOf = (tool: Tool) => this.typeOf(viewer, tool);
    return usedBefore === undefined ? { observedTypeOf } : { observedTypeOf, usedBefore };
  }

  /** The type that this caller has seen of a tool, or `undefined` if it has seen none. */
  typeOf(viewer: Viewer, tool: Tool): string | undefined {
    return this.#types.typeOf(viewerId(viewer), tool.serverId, tool.name, this.#definitionOf(tool));
  }

  /** The types that every caller has seen of a tool, on any host: for the operator. */
  async seenOf(tool: Tool): Promise<{ readonly caller: string; readonly profile: string; readonly type: string }[]> {
    const all = ObservedTypes.fromJson(await this.#options.file?.read());
    all.adopt(this.#types);
    return all.seenOf(tool.serverId, tool.name, this.#definitionOf(tool)).map(({ caller, type }) => {
      const [name = '', profile = 'codemode'] = caller.split('\u0000');
      return { caller: name, profile, type };
    });
  }

  /** Writes pending changes. */
  async close(): Promise<void> {
    if (this.#timer !== undefined) await this.#save();
    await this.#saving;
  }

  #saveSoon(): void {
    if (this.#options.file === undefined) return;
    this.#timer ??= setTimeout(() => void this.#save(), SAVE_DELAY_MS).unref();
  }

  #save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  /** Merges into the current file, because other hosts write it too. */
  async #write(): Promise<void> {
    const { file } = this.#options;
    const stored = await file?.read();
    const onDisk = ObservedTypes.fromJson(stored);
    onDisk.adopt(this.#types);
    await file?.write({ ...onDisk.toJson(), used: this.#used.addedTo(usedIn(stored)) });
  }

  /** In a query the caller chooses the columns, so their names are not part of the type. */
  #lookOf(tool: Tool): typeof shapeOfResult {
    let look = this.#looks.get(tool);
    if (look === undefined) {
      look = takesQuery(tool) ? (seen: JsonValue) => asRows(shapeOfResult(seen)) : shapeOfResult;
      this.#looks.set(tool, look);
    }
    return look;
  }

  #definitionOf(tool: Tool): string {
    let digest = this.#definitions.get(tool);
    if (digest === undefined) {
      const facts = JSON.stringify([this.#options.fingerprintOf(tool.serverId), tool]);
      digest = hash('sha256', facts, 'hex').slice(0, DIGEST_CHARACTERS);
      this.#definitions.set(tool, digest);
    }
    return digest;
  }
}

const DIGEST_CHARACTERS = 32;

function usedIn(stored: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(stored) ? stored.used : undefined;
}
