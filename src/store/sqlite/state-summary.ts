import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'libsql';

/** What the state folder shows without its key: counts, ids and names. */
export interface StateSummary {
  readonly pendingApprovals: number;
  readonly suspendedRuns: number;
  /** The newest first. */
  readonly runIds: readonly string[];
  readonly approvalIds: readonly string[];
  readonly scriptNames: readonly string[];
  /** Why the state could not be read, if there is any. */
  readonly problem?: string;
}

const NOTHING: StateSummary = {
  pendingApprovals: 0,
  suspendedRuns: 0,
  runIds: [],
  approvalIds: [],
  scriptNames: [],
};

/** Do not wait longer for a writing host: a person has pressed a key and waits. */
const BUSY_TIMEOUT_MS = 200;
const MAX_IDS = 100;

/** Read-only: creates no folder, migrates no file, asks for no key. Never throws. */
export function summariseState(stateFolder: string, nowMs: number): StateSummary {
  const file = join(stateFolder, 'codemode.db');
  if (!existsSync(file)) return NOTHING;
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(file);
    sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    sqlite.pragma('query_only = ON');
    const texts = (sql: string, ...values: number[]) =>
      ((sqlite as Sqlite.Database).prepare(sql).all(values) as { text: string }[]).map(({ text }) => text);
    const count = (sql: string, ...values: number[]) =>
      ((sqlite as Sqlite.Database).prepare(sql).get(values) as { count: number }).count;
    // A file of an older version lacks some tables.
    const hasScripts =
      count("SELECT count(*) AS count FROM sqlite_master WHERE type = 'table' AND name = 'scripts'") > 0;
    const pending = "FROM approvals WHERE state = 'PENDING' AND expires_at > ?";
    return {
      pendingApprovals: count(`SELECT count(*) AS count ${pending}`, nowMs),
      suspendedRuns: count("SELECT count(*) AS count FROM runs WHERE state = 'suspended'"),
      runIds: texts('SELECT id AS text FROM runs ORDER BY created_at DESC LIMIT ?', MAX_IDS),
      approvalIds: texts(`SELECT id AS text ${pending} ORDER BY created_at DESC LIMIT ?`, nowMs, MAX_IDS),
      scriptNames: hasScripts
        ? texts("SELECT name AS text FROM scripts WHERE instr(name, '@') = 0 ORDER BY name LIMIT ?", MAX_IDS)
        : [],
    };
  } catch (error) {
    return { ...NOTHING, problem: error instanceof Error ? error.message : 'it cannot be read' };
  } finally {
    sqlite?.close();
  }
}
