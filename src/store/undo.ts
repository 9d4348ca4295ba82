import type { UndoState } from '../domain/undo.js';
import type { Awaitable } from '../lib/async/awaitable.js';
import { type SealBinding, seal, unseal } from '../lib/secrets/sealed.js';

/** Which calls of which runs were undone. A call is undone by one process, once. */
export interface UndoStore {
  /** Takes a call before its inverse is sent. False where another process has it, or it was undone already. */
  begin(runId: string, call: number): Awaitable<boolean>;
  /** Records what came of it. */
  end(runId: string, call: number, state: 'undone' | 'failed'): Awaitable<void>;
  /** Gives a call back whose inverse was not sent. */
  release(runId: string, call: number): Awaitable<void>;
  statesOf(runId: string): Awaitable<ReadonlyMap<number, UndoState>>;
}

const STATES: readonly UndoState[] = ['begun', 'undone', 'failed'];

/** A state, bound to its call: who can write to the database and has no key cannot say that a call may be undone again. */
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
