import type { Approval } from '../../domain/approval.js';
import type { AuditEntry } from '../../domain/audit.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { RunContext } from '../run-context.js';

/** Default fields of records that are not calls. */
const EMPTY = {
  codeDigest: '',
  profile: '',
  serverId: '',
  toolName: '',
  argumentsDigest: '',
  resultBytes: null,
  durationMs: 0,
  approval: { state: 'NOT_REQUIRED' },
  redactions: {},
} as const;

/** A person's decision about a call. It may come after the run has ended, and a call need not follow. */
export function decisionEntry(callId: string, { id, runId, caller, tool, state, decision }: Approval): AuditEntry {
  const { by = '', atMs = Date.now(), reason } = decision ?? {};
  return {
    ...EMPTY,
    ...{ callId, atMs, runId, caller, serverId: tool.serverId, toolName: tool.toolName, verdict: 'decided' },
    approval: { state, id, by, at: new Date(atMs).toISOString(), ...omitUndefined({ reason }) },
  };
}

/** A grant that a person revoked: later calls of the tool ask again. */
export function revocationEntry(
  callId: string,
  { id, runId, caller, tool, state }: Approval,
  { by, atMs, reason }: Revocation,
): AuditEntry {
  return {
    ...EMPTY,
    ...{ callId, atMs, runId, caller, serverId: tool.serverId, toolName: tool.toolName, verdict: 'revoked' },
    approval: { state, id, by, at: new Date(atMs).toISOString(), ...omitUndefined({ reason }) },
  };
}

/** Who revoked a grant, when and why. */
export interface Revocation {
  readonly by: string;
  readonly atMs: number;
  readonly reason?: string;
}

/** What was redacted from a program's printed output and result. */
export function outputEntry(
  callId: string,
  { runId, caller, profile, codeDigest }: RunContext,
  redactions: AuditEntry['redactions'],
): AuditEntry {
  return { ...EMPTY, callId, atMs: Date.now(), runId, caller, profile, codeDigest, verdict: 'output', redactions };
}
