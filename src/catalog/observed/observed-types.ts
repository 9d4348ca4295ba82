import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import { merge, type ObservedShape, withinBounds } from './observed-shape.js';
import { shapeOfResult } from './shape-of-result.js';
import { readShape, storeShape } from './stored-shape.js';
import { structureOf } from './structure.js';
import { typeText } from './type-text.js';

export interface ObservedBounds {
  readonly toolsPerCaller: number;
  /** Of all shapes together, as they are stored. */
  readonly totalBytes: number;
}

const DEFAULT_BOUNDS: ObservedBounds = { toolsPerCaller: 500, totalBytes: 4 * 1024 * 1024 };

interface Entry {
  readonly caller: CallerId;
  readonly serverId: string;
  readonly toolName: string;
  /** Of the tool as it was then; a shape says nothing of another. */
  readonly definition: string;
  readonly shape: ObservedShape;
  /** The shape as it is stored: what it weighs, and how a change is noticed. */
  readonly stored: string;
  /** Written when it is first asked for. */
  type?: string;
  /** The structure of the last result that said nothing new. */
  lastStructure?: string | undefined;
}

/**
 * What tools that declare no output have returned so far, as types. Most real tools are of that kind, and a program can't
 * be written against a result that nobody describes.
 *
 * Nothing of a result is kept but the names of its fields and their types; names that look like data are not kept
 * either. What one caller has seen is never shown to another. The least recently used is forgotten first.
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

  /** Learns from one result, as the program saw it. Says whether there was something to learn. */
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

  /** The type of what this caller has seen of a tool, or `undefined` where it has seen nothing. */
  typeOf(caller: CallerId, serverId: string, toolName: string, definition = ''): string | undefined {
    const key = keyOf(caller, serverId, toolName);
    const entry = this.#entries.get(key);
    if (entry?.definition !== definition) return undefined;
    this.#touch(key, entry);
    entry.type ??= typeText(entry.shape);
    return entry.type;
  }

  /** What each caller has seen of a tool. */
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

  /** What `toJson` gave, within today's bounds. What can't be read is forgotten. */
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

  /** Takes over what another has seen, in its order, instead of what is known here of the same tools. */
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
