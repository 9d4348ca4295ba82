import type { UndoState } from '../domain/undo.js';
import type { Awaitable } from '../lib/async/awaitable.js';
import { type SealBinding, seal, unseal } from '../lib/secrets/sealed.js';

/** Which calls of which runs were undone. A call is undone by one process, once. */
export interface UndoStore {
  /** Claims a call before its inverse is sent. False if another process has claimed it, or if it was already undone. */
  begin(runId: string, call: number): Awaitable<boolean>;
  /** Records the outcome of the undo. */
  end(runId: string, call: number, state: 'undone' | 'failed'): Awaitable<void>;
  /** Releases a call whose inverse was not sent. */
  release(runId: string, call: number): Awaitable<void>;
  statesOf(runId: string): Awaitable<ReadonlyMap<number, UndoState>>;
}

const STATES: readonly UndoState[] = ['begun', 'undone', 'failed'];

/** Seals a state, bound to its call: an attacker who can write to the database but has no key cannot make a call undoable again. */
export function sealState(key: Uint8Array, runId: string, call: number, state: UndoState): Buffer {
  return seal(key, binding(runId, call), Buffer.from(state));
}

export function openState(key: Uint8Array, runId: string, call: number, sealed: Buffer): UndoState {
  const text = unseal(key, binding(runId, call), sealed)?.toString('utf8');
  return STATES.find((state) => state === text) ?? 'unknown';
}

function binding(runId: string, call: number): SealBinding {
  return { purpose: 'undone call', owner: [runId, String(call)] };
}
