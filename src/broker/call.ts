import type { Approval } from '../domain/approval.js';
import type { ApprovalNote, CallVerdict } from '../domain/audit.js';
import type { JsonValue } from '../domain/json.js';
import type { Respondent } from '../domain/question.js';
import type { GuestError, SourcePosition } from '../domain/run.js';
import type { Tool } from '../domain/tool.js';
import type { Span } from '../domain/trace.js';
import type { CallProgress, ToolReply } from '../domain/upstream.js';
import type { Awaitable } from '../lib/async/awaitable.js';
import type { RedactionCounts } from './redaction/redactor.js';
import type { RunContext } from './run-context.js';

/** One call of a program, or of a client that calls a tool directly. */
export interface BrokerCall {
  readonly run: RunContext;
  /** Its number within the run. */
  readonly number: number;
  readonly tool: Tool;
  /** Path of the server, and the caller's name for the tool. */
  readonly serverPath: string;
  readonly exportName: string;
  /** The program's name for the server, if it is not the path. */
  readonly serverName?: string;
  readonly input: JsonValue | undefined;
  readonly signal: AbortSignal;
  /** The code that made the call. Absent: nothing is asked of it or reported to it. */
  readonly delegate?: CallDelegate;
  readonly onProgress?: (progress: CallProgress) => void;
  /** Answers the server's questions during the call. */
  readonly respondent?: Respondent;
  /** No person can be asked: a call that needs approval is refused. */
  readonly asksNobody?: boolean;
  /** The span of this call, set by the pipeline. */
  readonly span?: Span;
}

/** The code that made a call. The pipeline reports to it what happens to the call, and asks it about the run. */
export interface CallDelegate {
  /** The call was made before its run was suspended or rebuilt, and had not been sent. */
  readonly isReplayed: boolean;
  /** Where in the source it was made, innermost first; empty if unknown. Asked only if a person is shown the call. */
  locate(): Promise<readonly SourcePosition[]>;
  /** The time that its run has left. */
  remainingMs(): number;
  /** It waits for a person. */
  onPending(approval: Approval): void;
  /** The person has decided, or the approval has timed out. */
  onDecided(): void;
  /** The call is about to be sent, and may take effect from here on. Throws if that cannot be recorded; then the call is not sent. */
  onSending(): Awaitable<void>;
  /** An attempt failed with this failure, and the call is retried. */
  onRetry?(failure: string): void;
}

/** The outcome of a call; each profile renders it in its own format. */
export type BrokerOutcome = CallNotes &
  (
    | { readonly ok: true; readonly reply: ToolReply; readonly warnings: readonly string[] }
    | { readonly ok: false; readonly error: GuestError; readonly reply?: ToolReply; readonly verdict?: CallVerdict }
  );

/** What the steps of the pipeline add to the audit record. */
export interface CallNotes {
  /** Absent if no approval was needed. */
  readonly approval?: ApprovalNote;
  /** Absent if nothing was redacted. */
  readonly redactions?: RedactionCounts;
}
