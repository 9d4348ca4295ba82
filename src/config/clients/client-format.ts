import { isDeepStrictEqual } from 'node:util';
import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { isObject } from '../schema/server-map.js';

/** How a client stores its servers. Every edit leaves the rest of the text unchanged, byte for byte. */
export interface ClientFormat {
  /** The key that holds the servers. */
  readonly key: string;
  /** Throws `bad_input` if the client could not read the text. */
  parse(text: string, file: string): JsonObject;
  add(text: string, name: string, entry: JsonObject): string;
  remove(text: string, name: string): string;
  /** Copies an entry from an earlier version of the file, with its comments. */
  copy(text: string, name: string, from: string): string;
}

/** The servers of a file, in the client's own form. Throws `bad_input`. */
export function entriesOf(format: ClientFormat, text: string, file: string): ReadonlyMap<string, JsonValue> {
  const servers = format.parse(text, file)[format.key];
  if (servers === undefined) return new Map();
  if (isObject(servers)) return new Map(Object.entries(servers));
  throw new HostError(
    'bad_input',
    `${file}: ${format.key} is not a map of servers; nothing was written. Correct the file, then type the command again.`,
  );
}

export type EntryEdit =
  | { readonly kind: 'add'; readonly name: string; readonly entry: JsonObject }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'copy'; readonly name: string; readonly from: string };

/** Applies edits in order. The result is parsed again, and refused if it does not say exactly what was intended. */
export function edited(format: ClientFormat, text: string, file: string, edits: readonly EntryEdit[]): string {
  const before = format.parse(text, file);
  const servers = new Map(entriesOf(format, text, file));
  let result = text;
  for (const edit of edits) {
    const { name } = edit;
    switch (edit.kind) {
      case 'add':
        if (servers.has(name)) result = format.remove(result, name);
        result = format.add(result, name, edit.entry);
        servers.set(name, edit.entry);
        break;
      case 'remove':
        result = format.remove(result, name);
        servers.delete(name);
        break;
      case 'copy': {
        result = format.copy(result, name, edit.from);
        const entry = entriesOf(format, edit.from, file).get(name);
        if (entry !== undefined) servers.set(name, entry);
        break;
      }
    }
  }
  if (!isAsMeant(format, result, file, { ...before, [format.key]: Object.fromEntries(servers) })) {
    throw new HostError(
      'bad_input',
      `${file}: ${format.key} is written in a way that codemode cannot edit safely; nothing was written. Edit it by hand: docs/reference/clients.md shows the entry.`,
    );
  }
  return result;
}

function isAsMeant({ key, parse }: ClientFormat, text: string, file: string, meant: JsonObject): boolean {
  try {
    return isDeepStrictEqual({ [key]: {}, ...parse(text, file) }, meant);
  } catch {
    return false;
  }
}
