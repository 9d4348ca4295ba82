import { SEAL_BYTES } from '../../../lib/secrets/sealed.js';
import type { CallRow } from '../../run-seals.js';
import type { StoredState } from '../../runs.js';
import type { Database } from '../database.js';

/** The columns of a run that are not sealed. */
export interface RunRow {
  id: string;
  caller: string;
  profile: string;
  setting: string;
  code_digest: string;
  state: StoredState;
  created_at: number;
  updated_at: number;
  holder: string | null;
  duration_ms: number | null;
  calls: number | null;
  tool_bytes: number | null;
  response_bytes: number | null;
}

type Blobs = Record<'program' | 'context' | 'response' | 'recording', Buffer | null> & { readonly caller: string };

export const COLUMNS = `id, caller, profile, setting, code_digest, state, created_at, updated_at, holder, duration_ms, calls,
  tool_bytes, max(0, length(response) - ${SEAL_BYTES}) AS response_bytes`;

export type RunStatements = ReturnType<typeof prepareRunStatements>;

/** All statements on the tables of runs, prepared once. */
export function prepareRunStatements(database: Database) {
  return {
    suspend: database.prepare<never>(
      `INSERT INTO runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, program, context, title)
        VALUES (?, ?, ?, ?, ?, 'suspended', ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, program = excluded.program,
          context = excluded.context, holder = NULL`,
    ),
    find: database.prepare<RunRow>(`SELECT ${COLUMNS} FROM runs WHERE id = ?`),
    // Of runs stored in the same millisecond, the last one written is the newest.
    list: database.prepare<RunRow>(`SELECT ${COLUMNS} FROM runs ORDER BY created_at DESC, rowid DESC LIMIT ?`),
    listOf: database.prepare<RunRow>(
      `SELECT ${COLUMNS} FROM runs WHERE caller = ? ORDER BY created_at DESC, rowid DESC LIMIT ?`,
    ),
    lastOf: database.prepare<RunRow>(
      `SELECT ${COLUMNS} FROM runs WHERE caller = ? AND profile = ? AND code_digest = ?
        ORDER BY created_at DESC, rowid DESC LIMIT 1`,
    ),
    title: database.prepare<{ caller: string; title: Buffer }>(
      'SELECT caller, title FROM runs WHERE id = ? AND title IS NOT NULL',
    ),
    idsFrom: database.prepare<{ id: string }>('SELECT id FROM runs WHERE id >= ? ORDER BY id LIMIT ?'),
    resumable: database.prepare<RunRow>(
      `SELECT ${COLUMNS} FROM runs WHERE state = 'suspended' AND NOT EXISTS
        (SELECT 1 FROM approvals WHERE approvals.run = runs.id AND approvals.state = 'PENDING' AND approvals.expires_at > ?)
        ORDER BY created_at`,
    ),
    setHolder: database.prepare<never>('UPDATE runs SET holder = ? WHERE id = ?'),
    blobs: database.prepare<Blobs>('SELECT caller, program, context, response, recording FROM runs WHERE id = ?'),
    end: database.prepare<never>(
      `INSERT INTO runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, response, recording,
          modules, title, duration_ms, calls, tool_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at,
          response = excluded.response, recording = excluded.recording, modules = excluded.modules, program = NULL,
          holder = NULL,
          -- A run that is cancelled while suspended has no recording: its context has the program and the calls.
          context = CASE excluded.state WHEN 'cancelled' THEN context END,
          title = coalesce(excluded.title, title), duration_ms = excluded.duration_ms,
          calls = excluded.calls, tool_bytes = excluded.tool_bytes`,
    ),
    recording: database.prepare<{
      caller: string;
      recording: Buffer | null;
      digest: string | null;
      modules: Buffer | null;
    }>(
      `SELECT caller, recording, runs.modules AS digest, run_modules.modules AS modules
        FROM runs LEFT JOIN run_modules ON run_modules.digest = runs.modules WHERE id = ?`,
    ),
    hasModules: database.prepare<object>('SELECT 1 FROM run_modules WHERE digest = ?'),
    putModules: database.prepare<never>('INSERT INTO run_modules (digest, modules) VALUES (?, ?)'),
    forgetCalls: database.prepare<never>('DELETE FROM run_calls WHERE run = ?'),
    forgetDeliveries: database.prepare<never>('DELETE FROM run_deliveries WHERE run = ?'),
    putCall: database.prepare<never>(
      `INSERT INTO run_calls (run, number, state, call) VALUES (?, ?, ?, ?)
        ON CONFLICT (run, number) DO UPDATE SET state = excluded.state, call = excluded.call`,
    ),
    putDelivery: database.prepare<never>('INSERT INTO run_deliveries (run, position, delivery) VALUES (?, ?, ?)'),
    calls: database.prepare<CallRow>('SELECT number, state, call FROM run_calls WHERE run = ? ORDER BY number'),
    deliveries: database.prepare<{ position: number; delivery: Buffer }>(
      'SELECT position, delivery FROM run_deliveries WHERE run = ? ORDER BY position',
    ),
    anyCall: database.prepare<object>('SELECT 1 FROM run_calls LIMIT 1'),
    anyDelivery: database.prepare<object>('SELECT 1 FROM run_deliveries LIMIT 1'),
    suspendedBytes: database.prepare<{ bytes: number }>(
      `SELECT coalesce(sum(length(program) + length(context)), 0) AS bytes FROM runs
        WHERE state = 'suspended' AND caller = ? AND id <> ?`,
    ),
  };
}
