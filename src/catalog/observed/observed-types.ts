import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import { merge, type ObservedShape, withinBounds } from './observed-shape.js';
import { shapeOfResult } from './shape-of-result.js';
import { readShape, storeShape } from './stored-shape.js';
import { structureOf } from './structure.js';
import { typeText } from './type-text.js';

export interface ObservedBounds {
  readonly toolsPerCaller: number;
  /** The size of all stored shapes together. */
  readonly totalBytes: number;
}

const DEFAULT_BOUNDS: ObservedBounds = { toolsPerCaller: 500, totalBytes: 4 * 1024 * 1024 };

interface Entry {
  readonly caller: CallerId;
  readonly serverId: string;
  readonly toolName: string;
  /** Identifies the definition of the tool at that time. The shape does not apply to another definition. */
  readonly definition: string;
  readonly shape: ObservedShape;
  /** The stored form of the shape: used for its size and to detect changes. */
  readonly stored: string;
  /** Written on first use. */
  type?: string;
  /** The structure of the last result that added nothing new. */
  lastStructure?: string | undefined;
}

/**
 * The results of tools that declare no output, as types. Most real tools declare none, and a program cannot be written against an
 * undescribed result.
 *
 * Only the names and types of fields are kept of a result, without names that look like data. A caller never sees what another has
 * observed. The least recently used entry is forgotten first.
 */
export class ObservedTypes {
  readonly #bounds: ObservedBounds;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #toolsOf = new Map<CallerId, number>();
  #bytes = 0;

  constructor(bounds: Partial<ObservedBounds> = {}) {
    this.#bounds = { ...DEFAULT_BOUNDS, ...bounds };
  }

  /** Learns from one result, as the program saw it. Returns whether it was new. */
  observe(
    caller: CallerId,
    serverId: string,
    toolName: string,
    value: JsonValue,
    definition = '',
    lookAt: (value: JsonValue) => ObservedShape = shapeOfResult,
  ): boolean {
    const key = keyOf(caller, serverId, toolName);
    const before = this.#entries.get(key);
    const known = before?.definition === definition ? before : undefined;
    const structure = structureOf(value);
    if (known !== undefined && structure !== undefined && known.lastStructure === structure) {
      this.#touch(key, known);
      return false;
    }
    const seen = lookAt(value);
    const shape = known === undefined ? seen : withinBounds(merge(known.shape, seen));
    const stored = JSON.stringify(storeShape(shape));
    const isNews = known?.stored !== stored;
    if (isNews) this.#set(key, { caller, serverId, toolName, definition, shape, stored });
    else {
      (known as Entry).lastStructure = structure;
      this.#touch(key, known as Entry);
    }
    return isNews;
  }

  /** The type that this caller has seen of a tool, or `undefined` if it has seen none. */
  typeOf(caller: CallerId, serverId: string, toolName: string, definition = ''): string | undefined {
    const key = keyOf(caller, serverId, toolName);
    const entry = this.#entries.get(key);
    if (entry?.definition !== definition) return undefined;
    this.#touch(key, entry);
    entry.type ??= typeText(entry.shape);
    return entry.type;
  }

  /** The type that each caller has seen of a tool. */
  seenOf(
    serverId: string,
    toolName: string,
    definition: string,
  ): { readonly caller: CallerId; readonly type: string }[] {
    return [...this.#entries.values()].flatMap((entry) => {
      if (entry.serverId !== serverId || entry.toolName !== toolName || entry.definition !== definition) return [];
      const type = entry.type ?? typeText(entry.shape);
      return type === undefined ? [] : [{ caller: entry.caller, type }];
    });
  }

  toJson(): JsonObject {
    const tools = [...this.#entries.values()].map(({ caller, serverId, toolName, definition, shape }) => [
      caller,
      serverId,
      toolName,
      definition,
      storeShape(shape),
    ]);
    return { version: VERSION, tools };
  }

  /** Reads the output of `toJson`, within the current limits. Unreadable entries are dropped. */
  static fromJson(json: JsonValue | undefined, bounds: Partial<ObservedBounds> = {}): ObservedTypes {
    const types = new ObservedTypes(bounds);
    const tools = isJsonObject(json) && json.version === VERSION && Array.isArray(json.tools) ? json.tools : [];
    for (const tool of tools) {
      if (!Array.isArray(tool)) continue;
      const [caller, serverId, toolName, definition, storedShape] = tool;
      if (typeof caller !== 'string' || typeof serverId !== 'string' || typeof toolName !== 'string') continue;
      if (typeof definition !== 'string') continue;
      const shape = readShape(storedShape);
      const entry = { caller: caller as CallerId, serverId, toolName, definition, shape };
      types.#set(keyOf(entry.caller, serverId, toolName), { ...entry, stored: JSON.stringify(storeShape(shape)) });
    }
    return types;
  }

  /** Adopts the observations of another, in its order. They replace those known here of the same tools. */
  adopt(other: ObservedTypes): void {
    for (const [key, entry] of other.#entries) this.#set(key, entry);
  }

  #touch(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #set(key: string, entry: Entry): void {
    this.#forget(key);
    this.#entries.set(key, entry);
    this.#toolsOf.set(entry.caller, (this.#toolsOf.get(entry.caller) ?? 0) + 1);
    this.#bytes += weightOf(key, entry);
    if ((this.#toolsOf.get(entry.caller) ?? 0) > this.#bounds.toolsPerCaller) this.#forgetOldest(entry.caller);
    while (this.#bytes > this.#bounds.totalBytes && this.#entries.size > 0) this.#forgetOldest();
  }

  #forgetOldest(caller?: CallerId): void {
    for (const [key, entry] of this.#entries) {
      if (caller !== undefined && entry.caller !== caller) continue;
      this.#forget(key);
      return;
    }
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= weightOf(key, entry);
    const left = (this.#toolsOf.get(entry.caller) ?? 1) - 1;
    if (left === 0) this.#toolsOf.delete(entry.caller);
    else this.#toolsOf.set(entry.caller, left);
  }
}

const VERSION = 2;

function keyOf(caller: CallerId, serverId: string, toolName: string): string {
  return JSON.stringify([caller, serverId, toolName]);
}

function weightOf(key: string, { definition, stored }: Entry): number {
  return key.length + definition.length + stored.length;
}
