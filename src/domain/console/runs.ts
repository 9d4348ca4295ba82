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
  /** Searched for in the title, the id and the caller. */
  readonly text?: string;
  readonly sinceMs?: number;
  /** At most 200. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** Newest first. If `text` filters, a page may have fewer than `limit` runs and still a cursor: the search continues from there. */
export interface RunPage {
  readonly runs: readonly RunItem[];
  readonly cursor?: string;
}

/** A run of another process is listed while it runs, unless it ends within a moment. */
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
  /** Number of tool calls it made; absent until it has ended. */
  readonly toolCalls?: number;
  /**
   * Tokens of the tools' answers minus tokens of the run's answer, by the method of `UsageReport`: what a model that calls the
   * tools one by one would read in addition. Negative if the run's answer is longer. Absent until the run has ended.
   */
  readonly savedTokens?: number;
  /** For a failed run: the reason, in one line. */
  readonly problem?: string;
  /** Codemode ran it itself, to measure or check this machine: `doctor`, `measure`, `demo`. */
  readonly isOwn?: true;
}

export interface RunDetail extends RunItem {
  /** Absent if no recording is kept: the run has not ended, was cancelled, or is too large. */
  readonly program?: {
    readonly source: string;
    readonly language: SourceLanguage | 'node' | 'python' | 'go';
    readonly codeDigest: string;
  };
  /** Why `program`, deliveries and replay are missing, if they are. */
  readonly recordingNote?: string;
  readonly engine?: {
    readonly name: string;
    readonly build: string;
    readonly node: string;
    readonly isolation: string;
  };
  readonly limits?: JsonObject;
  /** What the run used of its limits, if the answer reports it. */
  readonly usage?: { readonly cpuMs?: number; readonly memoryBytes?: number; readonly calls: number };
  /** In the order in which they were made. At most 5,000; `callCount` is the total. */
  readonly calls: readonly RunCall[];
  readonly callCount: number;
  /** The log entries kept in the answer. `replay` returns all of them. */
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
  /** The answer to the client, in the format of its profile's contract; cut if it is large. */
  readonly answer: JsonValue;
  readonly isAnswerCut: boolean;
  readonly deliveryCount: number;
  readonly approvals: readonly ApprovalView[];
  /** The run was opened from a file and is not in this state folder. */
  readonly isFromFile?: true;
}

/** One call. Fields that are not on record are absent: lines come from `replay`, times and verdicts from the audit log. */
export interface RunCall {
  /** Absent for calls that are only in the audit log. */
  readonly number?: number;
  readonly serverId: string;
  readonly toolName: string;
  /** How the program calls it: `server/tool`, or a function of codemode such as `@discovery/searchTools`. */
  readonly target: string;
  /** Whether it is a tool of a server, not a function of codemode. */
  readonly isTool: boolean;
  readonly line?: number;
  /** In milliseconds since 1970. */
  readonly startedAtMs?: number;
  readonly durationMs?: number;
  readonly verdict?: CallVerdict;
  readonly resultBytes?: number;
  /** Position of its answer among the deliveries. */
  readonly answeredAt?: number;
  /** It waits for a person's decision. Nothing was sent. */
  readonly isWaiting?: true;
  /** The number of the call that ran the stored script containing this call. */
  readonly parent?: number;
  /** 1 for a call of a stored script that the program runs, 2 for a call of a script that such a script runs. */
  readonly depth?: number;
  /** The stored script that this call runs. */
  readonly script?: string;
  /** Failed attempts, each followed by a retry. */
  readonly retries?: readonly { readonly atMs: number; readonly failure: string }[];
  readonly redactions?: Readonly<Record<string, number>>;
  /** Its wait for a person. The run may have been suspended during that time. */
  readonly approval?: {
    readonly id: string;
    readonly state: ApprovalState;
    readonly askedAtMs?: number;
    readonly decidedAtMs?: number;
    readonly by?: string;
  };
  /** The labels that its server has now, for the flow view. */
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
  /** The beginning of the delivery as text. */
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

/** The view of an opened file. It is bounded like the view of a stored run, however large the file is. */
export interface OpenedRun {
  readonly run: RunDetail;
  readonly deliveries: readonly DeliveryView[];
}

/** A file with one run, for another console to open. */
export interface ExportedRun {
  readonly format: 'codemode run 1';
  readonly version: string;
  readonly run: RunDetail;
  readonly deliveries: readonly DeliveryView[];
  /** The input of `codemode replay FILE`; absent if none is kept. */
  readonly recording?: JsonValue;
}
