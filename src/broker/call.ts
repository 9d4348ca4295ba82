import type { Approval } from '../domain/approval.js';
import type { ApprovalNote, CallVerdict } from '../domain/audit.js';
import type { GuestError, SourcePosition } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import type { Respondent } from '../domain/question.js';
import type { Tool } from '../domain/tool.js';
import type { Span } from '../domain/trace.js';
import type { CallProgress, ToolReply } from '../domain/upstream.js';
import type { RedactionCounts } from './redaction/redactor.js';
import type { RunContext } from './run-context.js';

/** One wish of one program, or of a client that calls a tool directly. */
export interface BrokerCall {
  readonly run: RunContext;
  /** Its number within the run. */
  readonly number: number;
  readonly tool: Tool;
  /** How the caller names the server and the tool, for messages. */
  readonly serverPath: string;
  readonly exportName: string;
  readonly input: JsonValue | undefined;
  readonly signal: AbortSignal;
  /** It was made in an earlier life of its program, which slept or was lost before it was sent. */
  readonly isAgain?: boolean;
  readonly onProgress?: (progress: CallProgress) => void;
  /** Who answers what the server asks while it works on the call. */
  readonly respondent?: Respondent;
  /** Nobody is there who could be asked: what needs a person is refused. */
  readonly asksNobody?: boolean;
  /** Where in the source it was made, innermost first. Asked for when a person is to see it. */
  readonly locate?: () => Promise<readonly SourcePosition[]>;
  /** The step of a trace that it is; the pipeline's own. */
  readonly span?: Span;
  /** It waits for a person. */
  readonly onPending?: (approval: Approval) => void;
  /** The person has spoken, or nobody did in time. */
  readonly onDecided?: () => void;
  /** It leaves the house now. Throws where that cannot be written down, and then it does not. */
  readonly onSending?: () => void;
}

/** The one shape of an answer; each profile presents it in its own words. */
export type BrokerOutcome = CallNotes &
  (
    | { readonly ok: true; readonly reply: ToolReply; readonly warnings: readonly string[] }
    | { readonly ok: false; readonly error: GuestError; readonly reply?: ToolReply; readonly verdict?: CallVerdict }
  );

/** What the steps of the pipeline leave for the record. */
export interface CallNotes {
  /** Absent where nobody had to be asked. */
  readonly approval?: ApprovalNote;
  /** Absent where nothing was taken out. */
  readonly redactions?: RedactionCounts;
}
