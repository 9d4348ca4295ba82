import type { AuditRecord } from '../domain/audit.js';
import type { AuditRow, RowValues } from './audit-keys.js';

/** In the order in which a record is written. */
export const COLUMNS =
  'number, at_ms, run_id, caller, profile, code_digest, server_id, tool_name, arguments_digest, result_bytes, duration_ms, verdict, approval, redactions, call_id, hash, mac';

/** What the hash of a row covers, in the order of `COLUMNS`, with which every row is read. */
export function valuesIn({ hash, mac, ...said }: AuditRow): RowValues {
  return Object.values(said);
}

export function recordOf(row: AuditRow): AuditRecord {
  return {
    number: row.number,
    callId: row.call_id,
    atMs: row.at_ms,
    runId: row.run_id,
    caller: row.caller,
    profile: row.profile,
    codeDigest: row.code_digest,
    serverId: row.server_id,
    toolName: row.tool_name,
    argumentsDigest: row.arguments_digest,
    resultBytes: row.result_bytes,
    durationMs: row.duration_ms,
    verdict: row.verdict as AuditRecord['verdict'],
    approval: JSON.parse(row.approval) as AuditRecord['approval'],
    redactions: JSON.parse(row.redactions) as AuditRecord['redactions'],
    hash: row.hash,
  };
}
