import type { Approval, ApprovalDecision, ToolIdentity } from '../domain/approval.js';
import type { SealBinding } from '../lib/secrets/sealed.js';
import { storableText } from '../lib/text/storable-text.js';

/** What the seals and MACs of approvals are bound to: they do not verify for another call, tool, run or caller. */

/** Everything a person sees besides the arguments, and everything that identifies the call. */
export function subjectOf({ runId, call, caller, tool, argumentsDigest, reason }: Subject): string[] {
  return [runId, String(call), caller, ...identityOf(tool), argumentsDigest, reason].map(storableText);
}

export type Subject = Pick<Approval, 'runId' | 'call' | 'caller' | 'tool' | 'argumentsDigest' | 'reason'>;

export function argumentsBinding(id: string): SealBinding {
  return { purpose: 'approval arguments', owner: [id] };
}

/** A decision with everything it depends on, and whether a call has used it. */
export function decisionBinding(
  asked: Approval,
  state: string,
  { by, atMs, scope, reason }: ApprovalDecision,
  usedAtMs: number | null,
): SealBinding {
  const times = [asked.createdAtMs, asked.expiresAtMs, atMs, usedAtMs ?? 'unused'].map(String);
  const said = [state, by, scope, ...(reason === undefined ? [] : [reason])].map(storableText);
  return { purpose: 'approval decision', owner: [asked.id, ...subjectOf(asked), ...times, ...said] };
}

/** What earlier versions authenticated. It does not cover the scope, the expiry of the approval, or whether the decision was used. */
export function earlierBinding(
  { id, runId, call, caller, tool, argumentsDigest }: Approval,
  state: string,
  { by, atMs }: ApprovalDecision,
): SealBinding {
  return {
    purpose: 'approval',
    owner: [id, runId, String(call), caller, ...identityOf(tool), argumentsDigest, state, by, String(atMs)],
  };
}

export function grantBinding(tool: ToolIdentity, run: string, caller: string, expiresAtMs: number, approval: string) {
  return { purpose: 'grant', owner: [run, caller, ...identityOf(tool), String(expiresAtMs), approval] };
}

function identityOf({ serverId, serverFingerprint, toolName, toolDigest }: ToolIdentity): string[] {
  return [serverId, serverFingerprint, toolName, toolDigest].map(storableText);
}
