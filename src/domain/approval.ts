import type { JsonValue } from './json.js';

/** What became of the question whether a call may be made. */
export type ApprovalState = 'NOT_REQUIRED' | 'PENDING' | 'APPROVED' | 'DENIED' | 'EXPIRED';

/** How far a yes reaches: this call, the calls of this run that wait on the same card, this tool for the run, or for an hour. */
export const GRANT_SCOPES = ['call', 'calls', 'run', 'hour'] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];

/**
 * What a permission is given for. A server that was pointed elsewhere under its old name, or a tool whose description or
 * schema changed, is not what the person said yes to.
 */
export interface ToolIdentity {
  readonly serverId: string;
  /** Digest of how the server is reached. */
  readonly serverFingerprint: string;
  readonly toolName: string;
  /** Digest of everything the tool says of itself. */
  readonly toolDigest: string;
}

/** One call that waits for a person, or about which one has decided. */
export interface Approval {
  readonly id: string;
  readonly runId: string;
  /** Number of the call within its run. */
  readonly call: number;
  readonly caller: string;
  readonly tool: ToolIdentity;
  readonly arguments: JsonValue;
  readonly argumentsDigest: string;
  /** The lines of the program that a person should see. */
  readonly code: string;
  /** Why it is asked: a rule, a claim of the tool, its name, what the run has read before. */
  readonly reason: string;
  readonly state: Exclude<ApprovalState, 'NOT_REQUIRED'>;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly decision?: ApprovalDecision;
}

export interface ApprovalDecision {
  readonly by: string;
  readonly atMs: number;
  readonly reason?: string;
  readonly scope: GrantScope;
}

/** Calls of one tool in one run that stand alike are shown to a person as one card. */
export function cardsOf(approvals: readonly Approval[]): readonly (readonly Approval[])[] {
  const cards = new Map<string, Approval[]>();
  for (const approval of approvals) {
    const { tool, runId, state } = approval;
    const key = JSON.stringify([runId, tool.serverId, tool.toolName, state]);
    const card = cards.get(key);
    if (card === undefined) cards.set(key, [approval]);
    else card.push(approval);
  }
  return [...cards.values()];
}
