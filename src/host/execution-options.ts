import type { Approval } from '../domain/approval.js';
import type { CallerId, CallReply, GuestCall, LogEntry, SourcePosition } from '../domain/execution.js';
import type { StopSignal } from '../domain/stop-signal.js';
import type { Delivery } from '../sandbox/journal.js';
import type { SuspendedProgram } from '../sandbox/sandbox.js';

/** What a program is run with: who answers its calls, where it is written down, who is told what. */

/** Told while a call is being answered, each at its moment. */
export interface CallHooks {
  /** The program is over, or was put away: whatever is done for this call should stop. */
  readonly signal: AbortSignal;
  /** It was made before the program slept, and is answered anew. */
  readonly isAgain: boolean;
  /** Where in the source it was made, innermost first. Empty where that cannot be told. */
  locate(): Promise<readonly SourcePosition[]>;
  /** It waits for a person. */
  onPending(approval: Approval): void;
  /** The person has spoken, or nobody did in time. */
  onDecided(): void;
  /** It leaves the house now: from here on it may have taken effect. */
  onSending(): void;
  /** What it does stands still because of a person, and cannot be taken up again elsewhere. */
  onHeld(isHeld: boolean): void;
  /** What is left of the program's time. */
  remainingMs(): number;
  /** Whether the run is suspended, so that the call is made again when it is resumed. Absent: it never is. */
  isSuspended?(): boolean;
}

/** Answers a call that a program made. */
export type AnswerCall = (call: GuestCall, hooks: CallHooks) => Promise<CallReply>;

/** Where a program is written down when it sleeps, and what happens to it once it was woken. */
export interface RunRecords {
  putAway(program: SuspendedProgram): Promise<void>;
  callMade(call: GuestCall): void;
  callSent(call: GuestCall): void;
  delivered(delivery: Delivery, position: number): void;
}

/** Asks a person through the client. Resolves when all were answered or the client gave up. */
export type AskPerson = (approvals: readonly Approval[], signal: AbortSignal) => Promise<void>;

export interface ExecutionOptions {
  readonly caller: CallerId;
  readonly answerCall: AnswerCall;
  /** Absent where it cannot be put away: when patience ends, its calls are refused instead. */
  readonly records?: RunRecords;
  /** How long a program keeps its place while all it waits for is a person. */
  readonly patienceMs: number;
  /** Where to hear that the host is about to end; gives back how to stop listening. */
  readonly onDrain?: (listener: () => void) => () => void;
  /** Told whenever it begins or ceases to wait for nothing but people. */
  readonly onHeld?: (isHeld: boolean) => void;
  readonly askPerson?: AskPerson;
  /** `askPerson` is omitted while the program can be suspended instead: then the question goes out with the answer. */
  readonly suspendsToAsk?: boolean;
  readonly signal?: StopSignal;
  readonly onLog?: (entry: LogEntry) => void;
}
