import * as z from 'zod';
import type { AuditRecord } from '../domain/audit.js';
import type { AuditRow, RowValues } from './audit-keys.js';

/** The columns, in the order in which a record is written. */
export const COLUMNS =
  'number, at_ms, run_id, caller, profile, code_digest, server_id, tool_name, arguments_digest, result_bytes, duration_ms, verdict, approval, redactions, call_id, hash, mac';

/** The values that the hash of a row covers, in the order of `COLUMNS`. Every row is read with `COLUMNS`. */
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

/** A forged row is listed without these details. `verify` reports it, and one bad row must not break a list. */
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
