import * as z from 'zod';
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
    ...detailsIn(row),
    hash: row.hash,
  };
}

const approvalSchema = z.looseObject({ state: z.string() });
const redactionsSchema = z.record(z.string(), z.number());

/** A row that was planted is shown without them, among the others: `verify` names it, and a list must not end with it. */
function detailsIn({ approval, redactions }: AuditRow): Pick<AuditRecord, 'approval' | 'redactions'> {
  try {
    return {
      approval: approvalSchema.parse(JSON.parse(approval)) as unknown as AuditRecord['approval'],
      redactions: redactionsSchema.parse(JSON.parse(redactions)),
    };
  } catch {
    return { approval: { state: 'NOT_REQUIRED' }, redactions: {} };
  }
}
