import { hash } from 'node:crypto';
import type { ScriptHead, StoredScript } from '../domain/script.js';
import type { Awaitable } from '../lib/async/awaitable.js';

/** More than anybody keeps in mind; a listing opens them all. */
export const MAX_SCRIPTS = 500;

/** Earlier versions of one script that are kept; the oldest are dropped first. */
export const MAX_EARLIER_VERSIONS = 10;

/** `version`: the number that the script was given. */
export type Added =
  | { readonly state: 'added' | 'replaced'; readonly version: number }
  | { readonly state: 'taken' | 'full' };

/** A script that is about to be stored: the store counts its versions. */
export type UnnumberedScript = Omit<StoredScript, 'version'>;

/**
 * Stored scripts, sealed and bound to their names: who can write to the database and has no key can neither plant one nor
 * exchange two. One that does not open is not there.
 */
export interface ScriptStore {
  /** Of two processes that add one name at once, one is told that it is taken. */
  add(script: UnnumberedScript, replaces: boolean): Awaitable<Added>;
  list(): Awaitable<ScriptHead[]>;
  /** The newest, or an earlier version that is still kept. */
  find(name: string, version?: number): Awaitable<StoredScript | undefined>;
  /** The numbers of the earlier versions that are kept, the newest first. */
  earlierVersions(name: string): Awaitable<number[]>;
  /** With its earlier versions. */
  remove(name: string): Awaitable<boolean>;
}

/** Says without opening the store whether a script was ever stored: opening takes 40 ms of a start. */
export interface ScriptSign {
  isSet(): boolean;
  set(): void;
}

/** No name has this sign: earlier versions are in rows of their own, `report@3`. */
const VERSION_SIGN = '@';

/** The key of the row of an earlier version. */
export function earlierKey(name: string, version: number): string {
  return `${name}${VERSION_SIGN}${version}`;
}

/** The earlier versions of a script among the keys of rows, the newest first. */
export function earlierIn(keys: readonly string[], name: string): number[] {
  const prefix = `${name}${VERSION_SIGN}`;
  const own = keys.filter((key) => key.startsWith(prefix));
  return own.map((key) => Number(key.slice(prefix.length))).sort((left, right) => right - left);
}

export function scriptDigest(source: string): string {
  return hash('sha256', source, 'hex');
}
