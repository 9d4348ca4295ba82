import type { ApprovalState } from '../approval.js';
import type { CallVerdict } from '../audit.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { Label } from '../policy.js';
import type { LogEntry, RunState, SourceLanguage, SourcePosition } from '../run.js';
import type { ApprovalView } from './approvals.js';

export interface RunQuery {
  readonly state?: RunState;
  readonly caller?: string;
  readonly profile?: string;
  /** Found in the title, the id or the caller. */
  readonly text?: string;
  readonly sinceMs?: number;
  /** At most 200. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** The newest first. Where `text` filters, a page may have fewer than `limit` and a cursor all the same: the search goes on from there. */
export interface RunPage {
  readonly runs: readonly RunItem[];
  readonly cursor?: string;
}

/** Runs of other processes are seen while they run if they take longer than a moment. */
export interface RunItem {
  readonly runId: string;
  readonly state: RunState;
  readonly caller: string;
  readonly profile: string;
  readonly title?: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly durationMs?: number;
  readonly pendingApprovals: number;
  /** Calls of tools that it made; absent until it has ended. */
  readonly toolCalls?: number;
  /**
   * What tools answered, less what the run answered, by the method of `UsageReport`: a model that calls the tools one by one
   * reads so many tokens more. Negative where the answer is longer. Absent until it has ended.
   */
  readonly savedTokens?: number;
  /** Of a failed run: why, in one line. */
  readonly problem?: string;
  /** Codemode ran it itself, to measure or to check this machine: `doctor`, `measure`, `demo`. */
  readonly isOwn?: true;
}

export interface RunDetail extends RunItem {
  /** Absent where no recording is kept: it has not ended, was cancelled, or is too large. */
  readonly program?: {
    readonly source: string;
    readonly language: SourceLanguage | 'node' | 'python' | 'go';
    readonly codeDigest: string;
  };
  /** Why `program`, deliveries and replay are missing, where they are. */
  readonly recordingNote?: string;
  readonly engine?: {
    readonly name: string;
    readonly build: string;
    readonly node: string;
    readonly isolation: string;
  };
  readonly limits?: JsonObject;
  /** What was used of them, where the answer says so. */
  readonly usage?: { readonly cpuMs?: number; readonly memoryBytes?: number; readonly calls: number };
  /** In the order in which they were made. At most 5,000; `callCount` is how many there are. */
  readonly calls: readonly RunCall[];
  readonly callCount: number;
  /** Those that the answer kept; all of them come from `replay`. */
  readonly logs: readonly LogEntry[];
  readonly outcome?:
    | {
        readonly status: 'completed';
        readonly result: JsonValue;
        readonly isCut: boolean;
        readonly resultBytes: number;
      }
    | {
        readonly status: 'failed';
        readonly kind: string;
        readonly name: string;
        readonly message: string;
        readonly hint?: string;
        readonly position?: SourcePosition;
        readonly stack?: string;
      };
  /** What the client was answered, as the contract of its profile says; cut where it is large. */
  readonly answer: JsonValue;
  readonly isAnswerCut: boolean;
  readonly deliveryCount: number;
  readonly approvals: readonly ApprovalView[];
  /** The file was opened, and is not a run of this state folder. */
  readonly isFromFile?: true;
}

/** One call. What is not on record is absent: lines come from `replay`, times and verdicts from the audit log. */
export interface RunCall {
  /** Absent for calls that only the audit log has. */
  readonly number?: number;
  readonly serverId: string;
  readonly toolName: string;
  /** How the program calls it: `server/tool`, or a function of codemode such as `@discovery/searchTools`. */
  readonly target: string;
  /** A tool of a server, not a function of codemode. */
  readonly isTool: boolean;
  readonly line?: number;
  /** In milliseconds since 1970. */
  readonly startedAtMs?: number;
  readonly durationMs?: number;
  readonly verdict?: CallVerdict;
  readonly resultBytes?: number;
  /** Position of its answer among the deliveries. */
  readonly answeredAt?: number;
  /** A person has not decided about it yet: nothing was sent. */
  readonly isWaiting?: true;
  /** The number of the call that ran the stored script which made this one. */
  readonly parent?: number;
  /** 1 for a call of a stored script that the program runs, 2 for one of a script that such a script runs. */
  readonly depth?: number;
  /** The stored script that this call runs. */
  readonly script?: string;
  /** Attempts that failed, after each of which it was sent again. */
  readonly retries?: readonly { readonly atMs: number; readonly failure: string }[];
  readonly redactions?: Readonly<Record<string, number>>;
  /** Its wait for a person: the run may have been suspended meanwhile. */
  readonly approval?: {
    readonly id: string;
    readonly state: ApprovalState;
    readonly askedAtMs?: number;
    readonly decidedAtMs?: number;
    readonly by?: string;
  };
  /** The labels that its server has now: for the flow view. */
  readonly labels: readonly Label[];
  readonly isReadOnly?: boolean;
}

export interface CallArguments {
  readonly arguments: JsonValue;
  readonly isCut: boolean;
  readonly bytes: number;
}

export const DELIVERY_KINDS = ['result', 'error', 'timer', 'clock', 'engine'] as const;

/** One step of the journal, for the slider. */
export interface DeliveryView {
  readonly position: number;
  readonly kind: (typeof DELIVERY_KINDS)[number];
  readonly atMs: number;
  readonly call?: number;
  /** The beginning of it as text. */
  readonly preview?: string;
  readonly bytes?: number;
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryView[];
  readonly total: number;
  readonly startedAtMs: number;
}

export interface ReplayedRun {
  readonly isSame: boolean;
  readonly difference?: string;
  readonly logs: readonly LogEntry[];
  /** Line of each call that could be located, by its number. */
  readonly lines: readonly (readonly [call: number, line: number])[];
}

/** What is shown of such a file: as little as of a run that is stored, however large the file is. */
export interface OpenedRun {
  readonly run: RunDetail;
  readonly deliveries: readonly DeliveryView[];
}

/** One file that another console opens. */
export interface ExportedRun {
  readonly format: 'codemode run 1';
  readonly version: string;
  readonly run: RunDetail;
  readonly deliveries: readonly DeliveryView[];
  /** What `codemode replay FILE` reads; absent where none is kept. */
  readonly recording?: JsonValue;
}
