import type { Approval, ApprovalDecision, ToolIdentity } from '../domain/approval.js';
import type { Awaitable, Stop } from '../lib/async/awaitable.js';

/** A yes that reaches further than calls that wait: this tool, for one run or for every run of the caller. */
export interface GrantOptions {
  readonly runId: string | undefined;
  readonly expiresAtMs: number;
}

/** Of two people who decide at once, the first has decided. */
export type Decided =
  | { readonly isFirst: true; readonly approvals: readonly Approval[] }
  | { readonly isFirst: false; readonly approval: Approval };

/** With a wider scope, for which further calls. */
export interface DecideOptions {
  /** Ids of the questions that were decided together with it. */
  readonly others?: readonly string[];
  readonly grant?: GrantOptions | undefined;
}

/** A call that is looked up among grants. */
export interface GrantQuestion {
  /** Undefined for a call that belongs to no run. */
  readonly runId: string | undefined;
  readonly caller: string;
  readonly reasons: readonly string[];
}

export type SameCall = Pick<Approval, 'tool' | 'argumentsDigest' | 'caller' | 'program'>;

/** Questions to people, kept until they are answered or nobody did in time. */
export interface ApprovalStore {
  /** The same question that is open already, of another host too, is not asked a second time. Gives the one that is open. */
  add(approval: Approval): Awaitable<Approval>;
  find(id: string): Awaitable<Approval | undefined>;
  /** Ids that start with these characters, in order: also of what was decided or has expired. */
  idsWith(prefix: string, limit: number): Awaitable<string[]>;
  /** The latest question about this call of this run. */
  ofCall(runId: string, call: number): Awaitable<Approval | undefined>;
  ofRun(runId: string): Awaitable<Approval[]>;
  /** Of all of these runs, those of one run in the order of their calls. */
  ofRuns(runIds: readonly string[]): Awaitable<Approval[]>;
  /** A no to a call of this run with the same tool and arguments. */
  deniedOfRun(runId: string, tool: ToolIdentity, argumentsDigest: string): Awaitable<Approval | undefined>;
  /**
   * Questions about the same call of this program, whose runs could not be suspended: decisions that came too late for
   * them and that no later run has used, the newest first, then those without a decision.
   */
  ofSameCall(call: SameCall, nowMs: number): Awaitable<Approval[]>;
  /** Decisions about calls of this program, of whatever scope, that no run has used. */
  decidedLate(caller: string, program: string, nowMs: number): Awaitable<Approval[]>;
  /** Those of these that wait no longer. */
  settledOf(ids: readonly string[]): Awaitable<Approval[]>;
  pending(): Awaitable<Approval[]>;
  /** Cheaper than the questions themselves, of which there may be many. */
  pendingIds(): Awaitable<ReadonlySet<string>>;
  /** How many questions of a caller are open, and how much they take on disk. */
  pendingOf(caller: string): Awaitable<{ readonly count: number; readonly bytes: number }>;
  recent(limit: number): Awaitable<Approval[]>;
  /** Closes the questions that nobody answered in time. */
  expire(nowMs: number): Awaitable<number>;
  /** Calls `look` whenever a question may have been decided, by whichever process, or may have expired. */
  watch(look: () => void): Stop;
  /** Closes the questions of one run, whose calls nobody will make. */
  closeOfRun(runId: string): Awaitable<number>;
  /** Closes up to `most` questions of this caller, the oldest first, whose runs have ended: a yes to them makes no call. */
  closeOfEnded(caller: string, most: number): Awaitable<number>;
  isUsed(id: string): Awaitable<boolean>;
  /** Whether nobody has used this answer before. Of two hosts that use it at once, one hears yes. */
  use(id: string, nowMs?: number): Awaitable<boolean>;
  /**
   * Writes down what a person said: of the one question, of the others that were decided with it by their ids, and where a
   * grant is given of those that it covers. Undefined where there is no such question.
   */
  decide(
    id: string,
    state: 'APPROVED' | 'DENIED',
    decision: ApprovalDecision,
    options?: DecideOptions,
  ): Awaitable<Decided | undefined>;
  /** Forgets the oldest decided and expired approvals of a caller, beyond so many and so many bytes. */
  forgetOldest(caller: string, most: { readonly count: number; readonly bytes: number }): Awaitable<number>;
  /** Forgets what was decided long ago, and permissions that are over. */
  prune(nowMs: number): Awaitable<void>;
  /**
   * The approval by which this tool may be called for these reasons without asking again: of the run, where there is one, or
   * of the caller.
   */
  grantFor(tool: ToolIdentity, question: GrantQuestion, nowMs: number): Awaitable<Approval | undefined>;
}
