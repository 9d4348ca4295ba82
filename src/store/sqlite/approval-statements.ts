import type { ApprovalRow, GrantRow, ListedGrantRow } from '../approval-seals.js';
import type { Database } from './database.js';

/** How many decisions of one caller are searched for those of a program. */
const MAX_DECIDED_LATE = 100;
/** The most bytes a list of the latest approvals reads: each is unsealed. */
const MAX_LISTED_BYTES = 64 * 1024 * 1024;
/** Each was given by a person within the last 30 days. */
const MAX_LISTED_GRANTS = 1_000;

export type ApprovalStatements = ReturnType<typeof prepareApprovalStatements>;

/** All statements on the tables of approvals and grants, prepared once. */
export function prepareApprovalStatements(database: Database) {
  return {
    insert: database.prepare<never>(
      `INSERT INTO approvals (id, run, call, caller, server, server_fingerprint, tool, tool_digest, arguments,
        arguments_digest, reason, state, created_at, expires_at)
        SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'PENDING', ?, ?
        WHERE NOT EXISTS (SELECT 1 FROM approvals WHERE run = ? AND call = ? AND arguments_digest = ? AND server = ?
          AND server_fingerprint = ? AND tool = ? AND tool_digest = ? AND state = 'PENDING')`,
    ),
    byId: database.prepare<ApprovalRow>('SELECT * FROM approvals WHERE id = ?'),
    idsFrom: database.prepare<{ id: string }>('SELECT id FROM approvals WHERE id >= ? ORDER BY id LIMIT ?'),
    byCall: database.prepare<ApprovalRow>(
      'SELECT * FROM approvals WHERE run = ? AND call = ? ORDER BY created_at DESC, rowid DESC LIMIT 1',
    ),
    byRun: database.prepare<ApprovalRow>('SELECT * FROM approvals WHERE run = ? ORDER BY call'),
    denied: database.prepare<ApprovalRow>(
      `SELECT * FROM approvals WHERE run = ? AND arguments_digest = ? AND server = ? AND server_fingerprint = ? AND tool = ?
        AND tool_digest = ? AND state = 'DENIED' LIMIT 1`,
    ),
    sameCall: database.prepare<ApprovalRow>(
      `SELECT * FROM approvals WHERE caller = ? AND arguments_digest = ? AND server = ? AND server_fingerprint = ? AND tool = ?
        AND tool_digest = ? AND (state = 'PENDING' OR (state IN ('APPROVED', 'DENIED') AND scope IN ('call', 'calls')))
        AND used_at IS NULL AND expires_at > ?
        ORDER BY state = 'PENDING', created_at DESC, rowid DESC`,
    ),
    decidedLate: database.prepare<ApprovalRow>(
      `SELECT * FROM approvals WHERE caller = ? AND state IN ('APPROVED', 'DENIED') AND used_at IS NULL AND expires_at > ?
        ORDER BY decided_at DESC LIMIT ${MAX_DECIDED_LATE}`,
    ),
    pending: database.prepare<ApprovalRow>("SELECT * FROM approvals WHERE state = 'PENDING' ORDER BY created_at, call"),
    pendingIds: database.prepare<{ id: string }>("SELECT id FROM approvals WHERE state = 'PENDING'"),
    pendingOf: database.prepare<{ count: number; bytes: number }>(
      `SELECT count(*) AS count, coalesce(sum(length(arguments)), 0) AS bytes FROM approvals
        WHERE caller = ? AND state = 'PENDING'`,
    ),
    recent: database.prepare<ApprovalRow>(
      `SELECT * FROM approvals WHERE id IN (SELECT id FROM (SELECT id, sum(length(arguments)) OVER
          (ORDER BY created_at DESC, call DESC, rowid DESC) AS bytes
          FROM approvals ORDER BY created_at DESC, call DESC LIMIT ?) WHERE bytes <= ${MAX_LISTED_BYTES})
        ORDER BY created_at DESC, call DESC`,
    ),
    decide: database.prepare<never>(
      `UPDATE approvals SET state = ?, decided_by = ?, decided_at = ?, decision_reason = ?, scope = ?, mark = ?
        WHERE id = ? AND state = 'PENDING'`,
    ),
    expire: database.prepare<never>(
      "UPDATE approvals SET state = 'EXPIRED' WHERE state = 'PENDING' AND expires_at <= ?",
    ),
    closeOfRun: database.prepare<never>("UPDATE approvals SET state = 'EXPIRED' WHERE state = 'PENDING' AND run = ?"),
    closeOfEnded: database.prepare<never>(
      `UPDATE approvals SET state = 'EXPIRED' WHERE id IN (SELECT approvals.id FROM approvals
        JOIN runs ON runs.id = approvals.run AND runs.state <> 'suspended'
        WHERE approvals.caller = ? AND approvals.state = 'PENDING' ORDER BY approvals.created_at LIMIT ?)`,
    ),
    forgetDecided: database.prepare<never>("DELETE FROM approvals WHERE state <> 'PENDING' AND created_at < ?"),
    // A suspended run needs its decisions when it is resumed.
    forgetOldest: database.prepare<never>(
      `DELETE FROM approvals WHERE id IN (SELECT id FROM (
          SELECT id, row_number() OVER newest AS place, sum(length(arguments)) OVER newest AS bytes FROM approvals
            WHERE caller = ?1 AND state <> 'PENDING' WINDOW newest AS (ORDER BY created_at DESC, rowid DESC))
          WHERE place > ?2 OR bytes > ?3)
        AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = approvals.run AND runs.state = 'suspended')`,
    ),
    forgetGrants: database.prepare<never>('DELETE FROM grants WHERE expires_at < ?'),
    use: database.prepare<never>('UPDATE approvals SET used_at = ?, mark = ? WHERE id = ?'),
    findGrant: database.prepare<GrantRow>(
      `SELECT approval, expires_at, mark FROM grants WHERE run = ? AND caller = ? AND server = ?
        AND server_fingerprint = ? AND tool = ? AND tool_digest = ? AND expires_at > ?`,
    ),
    grants: database.prepare<ListedGrantRow>(
      `SELECT * FROM grants WHERE expires_at > ? AND NOT EXISTS
          (SELECT 1 FROM runs WHERE runs.id = grants.run AND runs.state <> 'suspended')
        ORDER BY expires_at LIMIT ${MAX_LISTED_GRANTS}`,
    ),
    revokeGrant: database.prepare<never>('DELETE FROM grants WHERE approval = ?'),
    putGrant: database.prepare<never>('INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
  };
}
