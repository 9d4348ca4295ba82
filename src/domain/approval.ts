import type { JsonValue } from './json.js';

/** What became of the question whether a call may be made. */
export type ApprovalState = 'NOT_REQUIRED' | 'PENDING' | 'APPROVED' | 'DENIED' | 'EXPIRED';

/** How far a yes reaches: this call, the calls that were on the same card, this tool for the run, or for an hour. */
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
  /** Digest of the tool's whole definition. */
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
  /** As people are shown them: the same as they are sent, but for secrets, each of which is a mark with length and digest. */
  readonly arguments: JsonValue;
  /** SHA-256 of the arguments as they are sent. */
  readonly argumentsDigest: string;
  /** Secrets that are shown as a mark. */
  readonly hiddenParts: number;
  /** The lines of the program that a person should see. */
  readonly code: string;
  /** Why it is asked: a rule, a claim of the tool, its name, what the run has read before. */
  readonly reason: string;
  /** Each part of the reason by itself. A grant covers calls that are asked about for these reasons and for no other. */
  readonly reasons: readonly string[];
  /**
   * Digest of the program, its language and its input, if its run cannot be suspended. A decision that comes too late for the run is for the same call of
   * the next run that starts with the same, once.
   */
  readonly program?: string;
  /** What was stored for people to see was changed, or belongs to another call: it can be denied and not approved. */
  readonly isUnreadable?: true;
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

/** Number of a call that a client made itself, outside every run. */
export const DIRECT_CALL = 0;

/** Such a call has no run that a yes could be given for. */
export function scopesOf({ call }: Pick<Approval, 'call'>): readonly GrantScope[] {
  return call === DIRECT_CALL ? GRANT_SCOPES.filter((scope) => scope !== 'run') : GRANT_SCOPES;
}

/** Whether everything for which a call is asked about was a reason of this approval. */
export function coversReasons({ reasons: covered }: Pick<Approval, 'reasons'>, reasons: readonly string[]): boolean {
  return reasons.length > 0 && reasons.every((reason) => covered.includes(reason));
}

/** Calls of one tool in one run that are asked about for the same reasons and stand alike are shown to a person as one card. */
export function cardsOf(approvals: readonly Approval[]): readonly (readonly Approval[])[] {
  const cards = new Map<string, Approval[]>();
  for (const approval of approvals) {
    const { tool, runId, caller, state, reasons } = approval;
    const key = JSON.stringify([runId, caller, state, reasons, Object.entries(tool).sort()]);
    const card = cards.get(key);
    if (card === undefined) cards.set(key, [approval]);
    else card.push(approval);
  }
  return [...cards.values()];
}
