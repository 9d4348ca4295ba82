import type { JsonValue } from './json.js';

/** The state of a call's approval. */
export type ApprovalState = 'NOT_REQUIRED' | 'PENDING' | 'APPROVED' | 'DENIED' | 'EXPIRED';

/** The scope of a grant: this call, the calls on the same card, this tool for the run, or this tool for an hour. */
export const GRANT_SCOPES = ['call', 'calls', 'run', 'hour'] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];

/**
 * The server and tool that a grant is for. A grant does not cover a server that was pointed elsewhere under its old name, or a
 * tool whose description or schema changed.
 */
export interface ToolIdentity {
  readonly serverId: string;
  /** Digest of how the server is reached. */
  readonly serverFingerprint: string;
  readonly toolName: string;
  /** Digest of the tool's whole definition. */
  readonly toolDigest: string;
}

/** One call that waits for a person's decision, or has one. */
export interface Approval {
  readonly id: string;
  readonly runId: string;
  /** Number of the call within its run. */
  readonly call: number;
  readonly caller: string;
  readonly tool: ToolIdentity;
  /** As shown to people: the arguments as sent, with each secret replaced by a mark with its length and digest. */
  readonly arguments: JsonValue;
  /** SHA-256 of the arguments as they are sent. */
  readonly argumentsDigest: string;
  /** Number of secrets that are shown as marks. */
  readonly hiddenParts: number;
  /** The lines of the program that a person should see. */
  readonly code: string;
  /** Why a person is asked: a rule, an annotation of the tool, the tool's name, or data that the run read before. */
  readonly reason: string;
  /** Each part of the reason by itself. A grant covers only calls that are asked about for these reasons. */
  readonly reasons: readonly string[];
  /**
   * Digest of the program, its language and its input, if its run cannot be suspended. A decision that comes too late for the
   * run applies once, to the same call of the next run with the same digest.
   */
  readonly program?: string;
  /** The stored text was changed, or belongs to another call. The approval can be denied, but not approved. */
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

/**
 * A standing decision: later calls of the tool are made for the same reasons without asking, until it expires, its run ends, or
 * a person revokes it. It has the id of the approval by which it was given.
 */
export interface Grant {
  readonly approval: Approval;
  readonly scope: Extract<GrantScope, 'run' | 'hour'>;
  readonly expiresAtMs: number;
}

/** Number of a call that a client made itself, outside every run. */
export const DIRECT_CALL = 0;

/** A direct call has no run, so it cannot be granted for a run. */
export function scopesOf({ call }: Pick<Approval, 'call'>): readonly GrantScope[] {
  return call === DIRECT_CALL ? GRANT_SCOPES.filter((scope) => scope !== 'run') : GRANT_SCOPES;
}

/** Whether this approval's reasons include every reason the call is asked about. */
export function coversReasons({ reasons: covered }: Pick<Approval, 'reasons'>, reasons: readonly string[]): boolean {
  return reasons.length > 0 && reasons.every((reason) => covered.includes(reason));
}

/** Calls of one tool in one run with the same reasons and the same state are shown to a person as one card. */
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
