import type { ApprovalState, GrantScope } from '../approval.js';
import type { JsonValue } from '../json.js';

export interface ApprovalQuery {
  /** Absent: pending only. */
  readonly state?: 'pending' | 'all';
  /** Number of cards, at most 100. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** Pending cards are sorted oldest first, all others newest first. */
export interface ApprovalPage {
  readonly cards: readonly ApprovalCard[];
  readonly pending: number;
  readonly cursor?: string;
}

/** Calls of one tool in one run that are asked about for the same reasons: a loop's writes are one card. */
export interface ApprovalCard {
  /** The id of its first call. */
  readonly id: string;
  readonly runId: string;
  readonly caller: string;
  /** The first meaningful line of the program; absent if the run is not stored. */
  readonly runTitle?: string;
  readonly serverId: string;
  readonly toolName: string;
  readonly state: Exclude<ApprovalState, 'NOT_REQUIRED'>;
  readonly reason: string;
  readonly reasons: readonly ApprovalReason[];
  /** The lines of the program around the call, with the line numbers of the source if the first line says so. */
  readonly code: string;
  readonly scopes: readonly GrantScope[];
  /** At most 200; `callCount` is the total. Load the others with `approval`. */
  readonly calls: readonly ApprovalView[];
  readonly callCount: number;
  readonly createdAtMs: number;
  /** The earliest expiry of its calls. */
  readonly expiresAtMs: number;
  /** A client made the call itself, outside every run. */
  readonly isDirect: boolean;
}

export interface ApprovalReason {
  readonly kind: 'rule' | 'preset' | 'flow' | 'budget' | 'other';
  readonly text: string;
  /** From the flow guard: the server whose data the run had read before. */
  readonly readFrom?: string;
}

export interface ApprovalView {
  readonly id: string;
  /** Number of the call within its run; 0 for a direct call by a client. */
  readonly call: number;
  /** As sent, with secrets replaced by marks. Large arguments are cut: see `isCut`. */
  readonly arguments: JsonValue;
  readonly isCut: boolean;
  readonly argumentsBytes: number;
  /** SHA-256 of the arguments as sent. The decision must include it. */
  readonly digest: string;
  /** Secrets that are shown as marks. */
  readonly hiddenParts: number;
  /** The stored approval was changed. It can be denied, but not approved. */
  readonly isUnreadable: boolean;
  readonly state: Exclude<ApprovalState, 'NOT_REQUIRED'>;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly decision?: {
    readonly by: string;
    readonly atMs: number;
    readonly scope: GrantScope;
    readonly reason?: string;
  };
}

/** A standing approval: further calls of the tool are made without asking, until it ends or is revoked. */
export interface GrantView {
  /** The id of the approval that it was given with. */
  readonly id: string;
  readonly serverId: string;
  readonly toolName: string;
  readonly caller: string;
  readonly runId: string;
  /** Absent if the run is not stored. */
  readonly runTitle?: string;
  /** `run`: until the run ends. `hour`: for every run of the caller, until `expiresAtMs`. */
  readonly scope: Extract<GrantScope, 'run' | 'hour'>;
  readonly expiresAtMs: number;
  /** It applies only to calls that are asked about for these reasons. */
  readonly reasons: readonly string[];
  readonly by: string;
  readonly atMs: number;
  readonly reason?: string;
}

export interface DecideRequest {
  readonly decision: 'approve' | 'deny';
  /** The calls that were shown, each with the digest that was shown. At most 500. */
  readonly calls: readonly { readonly id: string; readonly digest: string }[];
  /**
   * Default `call`: each of the named calls, once. `run` and `hour`: this tool, until the run ends or for an hour; for one card
   * at a time.
   */
  readonly scope?: Extract<GrantScope, 'call' | 'run' | 'hour'>;
  readonly reason?: string;
}

export interface DecideAnswer {
  readonly outcomes: readonly DecideOutcome[];
}

export interface DecideOutcome {
  readonly id: string;
  /**
   * - `decided`: by this request
   * - `decided_before`: another person decided first; `approval` has the name and the decision
   * - `expired`, `not_found`
   * - `changed`: it differs from what was shown; load it again
   * - `refused`: `message` says why (its run has ended, or it cannot be read)
   */
  readonly outcome: 'decided' | 'decided_before' | 'expired' | 'not_found' | 'changed' | 'refused';
  readonly message?: string;
  readonly approval?: ApprovalView;
}
