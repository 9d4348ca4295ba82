import { hash } from 'node:crypto';
import type { ScriptHead, StoredScript } from '../domain/script.js';
import type { Awaitable } from '../lib/awaitable.js';

/** More than anybody keeps in mind; a listing opens them all. */
export const MAX_SCRIPTS = 500;

export type Added = 'added' | 'replaced' | 'taken' | 'full';

/**
 * Stored scripts, sealed and bound to their names: who can write to the database and has no key can neither plant one nor
 * exchange two. One that does not open is not there.
 */
export interface ScriptStore {
  /** Of two processes that add one name at once, one is told that it is taken. */
  add(script: StoredScript, replaces: boolean): Awaitable<Added>;
  list(): Awaitable<ScriptHead[]>;
  find(name: string): Awaitable<StoredScript | undefined>;
  remove(name: string): Awaitable<boolean>;
}

/** Says without opening the store whether a script was ever stored: opening takes 40 ms of a start. */
export interface ScriptSign {
  isSet(): boolean;
  set(): void;
}

export function scriptDigest(source: string): string {
  return hash('sha256', source, 'hex');
}
