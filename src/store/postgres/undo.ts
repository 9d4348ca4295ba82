import type { UndoState } from '../../domain/undo.js';
import { openState, sealState, type UndoStore } from '../undo.js';
import type { Postgres } from './database/connection.js';

/** Undone calls in the database that hosts share. */
export class PostgresUndoStore implements UndoStore {
  readonly #postgres: Postgres;
  readonly #key: Uint8Array;

  constructor(postgres: Postgres, key: Uint8Array) {
    this.#postgres = postgres;
    this.#key = key;
  }

  async begin(runId: string, call: number): Promise<boolean> {
    const begun = sealState(this.#key, runId, call, 'begun');
    return this.#postgres.transaction(async (sql) => {
      // Nothing can be undone for a run that is no longer kept.
      await sql.change('DELETE FROM codemode.undone WHERE run NOT IN (SELECT id FROM codemode.runs)');
      const added = await sql.change(
        'INSERT INTO codemode.undone (run, call, state) VALUES ($1, $2, $3) ON CONFLICT (run, call) DO NOTHING',
        [runId, call, begun],
      );
      if (added > 0) return true;
      const [row] = await sql.query<{ state: Buffer }>(
        'SELECT state FROM codemode.undone WHERE run = $1 AND call = $2 FOR UPDATE',
        [runId, call],
      );
      if (row === undefined || openState(this.#key, runId, call, row.state) !== 'failed') return false;
      await sql.change('UPDATE codemode.undone SET state = $3 WHERE run = $1 AND call = $2', [runId, call, begun]);
      return true;
    });
  }

  async end(runId: string, call: number, state: 'undone' | 'failed'): Promise<void> {
    await this.#postgres.change('UPDATE codemode.undone SET state = $3 WHERE run = $1 AND call = $2', [
      runId,
      call,
      sealState(this.#key, runId, call, state),
    ]);
  }

  async release(runId: string, call: number): Promise<void> {
    await this.#postgres.change('DELETE FROM codemode.undone WHERE run = $1 AND call = $2', [runId, call]);
  }

  async statesOf(runId: string): Promise<ReadonlyMap<number, UndoState>> {
    const rows = await this.#postgres.query<{ call: string; state: Buffer }>(
      'SELECT call, state FROM codemode.undone WHERE run = $1',
      [runId],
    );
    return new Map(
      rows.map(({ call, state }) => [Number(call), openState(this.#key, runId, Number(call), state)] as const),
    );
  }
}
