import type { Approval, ApprovalDecision, Grant, ToolIdentity } from '../domain/approval.js';
import type { Awaitable, Stop } from '../lib/async/awaitable.js';

/** A grant that covers more than pending calls: this tool, for one run or for every run of the caller. */
export interface GrantOptions {
  readonly runId: string | undefined;
  readonly expiresAtMs: number;
}

/** If two people decide at once, the first decision counts. */
export type Decided =
  | { readonly isFirst: true; readonly approvals: readonly Approval[] }
  | { readonly isFirst: false; readonly approval: Approval };

/** For a decision with a wider scope: the further calls it covers. */
export interface DecideOptions {
  /** Ids of the approvals that were decided together with this one. */
  readonly others?: readonly string[];
  readonly grant?: GrantOptions | undefined;
}

/** A call that is looked up among grants. */
export interface GrantQuery {
  /** Undefined for a call that belongs to no run. */
  readonly runId: string | undefined;
  readonly caller: string;
  readonly reasons: readonly string[];
}

export type SameCall = Pick<Approval, 'tool' | 'argumentsDigest' | 'caller' | 'program'>;

/** Approvals, kept until they are decided or expire. */
export interface ApprovalStore {
  /**
   * If the same approval is already pending, also on another host, it is not added again. Returns the pending one. Throws
   * `quota_exceeded` if the caller has `most` of them pending, however many hosts add one at once.
   */
  add(approval: Approval, most?: number): Awaitable<Approval>;
  find(id: string): Awaitable<Approval | undefined>;
  /** Ids that start with these characters, in order, including decided and expired approvals. */
  idsWith(prefix: string, limit: number): Awaitable<string[]>;
  /** The latest approval for this call of this run. */
  ofCall(runId: string, call: number): Awaitable<Approval | undefined>;
  ofRun(runId: string): Awaitable<Approval[]>;
  /** The approvals of all these runs. Those of one run are in the order of its calls. */
  ofRuns(runIds: readonly string[]): Awaitable<Approval[]>;
  /** A denied call of this run with the same tool and arguments. */
  deniedOfRun(runId: string, tool: ToolIdentity, argumentsDigest: string): Awaitable<Approval | undefined>;
  /**
   * Approvals for the same call of this program whose runs could not be suspended. First the decisions that came too late for their
   * run and that no later run has used, the newest first. Then the undecided ones.
   */
  ofSameCall(call: SameCall, nowMs: number): Awaitable<Approval[]>;
  /** Decisions about calls of this program, of any scope, that no run has used. */
  decidedLate(caller: string, program: string, nowMs: number): Awaitable<Approval[]>;
  /** The approvals among these ids that are no longer pending. */
  settledOf(ids: readonly string[]): Awaitable<Approval[]>;
  pending(): Awaitable<Approval[]>;
  /** Cheaper than reading the approvals themselves: there may be many. */
  pendingIds(): Awaitable<ReadonlySet<string>>;
  /** How many approvals of a caller are pending, and how many bytes they take on disk. */
  pendingOf(caller: string): Awaitable<{ readonly count: number; readonly bytes: number }>;
  recent(limit: number): Awaitable<Approval[]>;
  /** Closes the approvals that nobody decided in time. */
  expire(nowMs: number): Awaitable<number>;
  /** Calls `look` whenever an approval may have been decided, by any process, or may have expired. */
  watch(look: () => void): Stop;
  /** Closes the approvals of one run, whose calls will not be made. */
  closeOfRun(runId: string): Awaitable<number>;
  /** Closes up to `most` approvals of this caller whose runs have ended, the oldest first: approving them makes no call. */
  closeOfEnded(caller: string, most: number): Awaitable<number>;
  isUsed(id: string): Awaitable<boolean>;
  /** Marks the decision as used. True if it was unused before. If two hosts use it at once, only one gets true. */
  use(id: string, nowMs?: number): Awaitable<boolean>;
  /**
   * Records a decision: for this approval, for the `others` that were decided with it, and for those that the grant covers, if one
   * is given. Undefined if there is no approval with this id.
   */
  decide(
    id: string,
    state: 'APPROVED' | 'DENIED',
    decision: ApprovalDecision,
    options?: DecideOptions,
  ): Awaitable<Decided | undefined>;
  /** Deletes the oldest decided and expired approvals of a caller, beyond this count and this number of bytes. */
  forgetOldest(caller: string, most: { readonly count: number; readonly bytes: number }): Awaitable<number>;
  /** Deletes old decisions and expired grants. */
  prune(nowMs: number): Awaitable<void>;
  /**
   * The approval that lets this tool be called for these reasons without asking again: a grant for the run, if there is one, or for
   * the caller.
   */
  grantFor(tool: ToolIdentity, query: GrantQuery, nowMs: number): Awaitable<Approval | undefined>;
  /** The grants that let calls through now, the next to expire first. Those of ended runs let nothing through. */
  grants(nowMs: number): Awaitable<Grant[]>;
  /** Deletes the grant that was given with this approval, for all hosts. False if there is none. */
  revokeGrant(id: string): Awaitable<boolean>;
}
