import { hash } from 'node:crypto';
import type { ScriptHead, StoredScript } from '../domain/script.js';
import type { Awaitable } from '../lib/async/awaitable.js';

/** More than anybody remembers. A listing unseals all of them. */
export const MAX_SCRIPTS = 500;

/** Earlier versions of one script that are kept; the oldest are dropped first. */
export const MAX_EARLIER_VERSIONS = 10;

/** `version`: the number that this script got. */
export type Added =
  | { readonly state: 'added' | 'replaced'; readonly version: number }
  | { readonly state: 'taken' | 'full' | 'saver_full' };

/** A script that is about to be stored. The store assigns its version. */
export type UnnumberedScript = Omit<StoredScript, 'version'>;

/**
 * Stored scripts, sealed and bound to their names: an attacker who can write to the database but has no key can neither plant a
 * script nor swap two. A script that does not unseal counts as absent.
 */
export interface ScriptStore {
  /**
   * If two processes add the same name at once, one of them gets `taken`. `saver_full`: who saved it has `mostSaved` already, also
   * if several processes add one at once.
   */
  add(script: UnnumberedScript, replaces: boolean, mostSaved?: number): Awaitable<Added>;
  list(): Awaitable<ScriptHead[]>;
  /** The newest version, or an earlier version that is still kept. */
  find(name: string, version?: number): Awaitable<StoredScript | undefined>;
  /** The numbers of the earlier versions that are kept, the newest first. */
  earlierVersions(name: string): Awaitable<number[]>;
  /** Removes the script and its earlier versions. */
  remove(name: string): Awaitable<boolean>;
}

/** Tells whether a script was ever stored, without opening the store: opening adds 40 ms to a start. */
export interface ScriptSign {
  isSet(): boolean;
  set(): void;
}

/** No script name contains this character. Earlier versions are in their own rows, such as `report@3`. */
const VERSION_SIGN = '@';

/** The row key of an earlier version. */
export function earlierKey(name: string, version: number): string {
  return `${name}${VERSION_SIGN}${version}`;
}

/** The earlier versions of a script found among row keys, the newest first. */
export function earlierIn(keys: readonly string[], name: string): number[] {
  const prefix = `${name}${VERSION_SIGN}`;
  const own = keys.filter((key) => key.startsWith(prefix));
  return own.map((key) => Number(key.slice(prefix.length))).sort((left, right) => right - left);
}

/** How many of them the same caller has saved. */
export function savedBy(heads: readonly ScriptHead[], { savedBy: saver }: Pick<ScriptHead, 'savedBy'>): number {
  return saver === undefined ? 0 : heads.filter((head) => head.savedBy === saver).length;
}

export function scriptDigest(source: string): string {
  return hash('sha256', source, 'hex');
}
