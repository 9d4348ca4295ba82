import type { UndoState } from '../../domain/undo.js';
import { openState, sealState, type UndoStore } from '../undo.js';
import type { Database, Statement } from './database.js';

/** Undone calls in the SQLite file of a state folder. */
export class SqliteUndoStore implements UndoStore {
  readonly #database: Database;
  readonly #key: Uint8Array;
  readonly #forget: Statement<never>;
  readonly #find: Statement<{ state: Buffer }>;
  readonly #all: Statement<{ call: number; state: Buffer }>;
  readonly #put: Statement<never>;
  readonly #remove: Statement<never>;

  constructor(database: Database, key: Uint8Array) {
    this.#database = database;
    this.#key = key;
    this.#forget = database.prepare('DELETE FROM undone WHERE run NOT IN (SELECT id FROM runs)');
    this.#find = database.prepare('SELECT state FROM undone WHERE run = ? AND call = ?');
    this.#all = database.prepare('SELECT call, state FROM undone WHERE run = ?');
    this.#put = database.prepare('INSERT OR REPLACE INTO undone (run, call, state) VALUES (?, ?, ?)');
    this.#remove = database.prepare('DELETE FROM undone WHERE run = ? AND call = ?');
  }

  begin(runId: string, call: number): boolean {
    return this.#database.transaction(() => {
      // Nothing can be undone for a run that is no longer kept.
      this.#forget.run();
      const row = this.#find.get(runId, call);
      if (row !== undefined && openState(this.#key, runId, call, row.state) !== 'failed') return false;
      this.#put.run(runId, call, sealState(this.#key, runId, call, 'begun'));
      return true;
    });
  }

  end(runId: string, call: number, state: 'undone' | 'failed'): void {
    this.#put.run(runId, call, sealState(this.#key, runId, call, state));
  }

  release(runId: string, call: number): void {
    this.#remove.run(runId, call);
  }

  statesOf(runId: string): ReadonlyMap<number, UndoState> {
    return new Map(this.#all.all(runId).map(({ call, state }) => [call, openState(this.#key, runId, call, state)]));
  }
}
