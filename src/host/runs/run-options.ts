import type { CallDelegate } from '../../broker/call.js';
import type { CallerId, CallReply, GuestCall, LogEntry } from '../../domain/run.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import type { Delivery } from '../../sandbox/journal/journal.js';
import type { SuspendedProgram } from '../../sandbox/sandbox.js';
import type { RunClient } from './run-client.js';

/** How a program is run: what answers its calls, where it is stored, and which callbacks are called. */

/** The callbacks of a call while it is answered: the pipeline's and the host's own. */
export interface RunCallDelegate extends CallDelegate {
  /** The run has ended or was suspended: work on this call should stop. */
  readonly signal: AbortSignal;
  /** The call is paused until a person answers the upstream, and cannot be resumed in another process. */
  onHeld(isHeld: boolean): void;
  /** Whether the run is suspended, so that the call is made again when it is resumed. Absent: it never is. */
  isSuspended?(): boolean;
}

/** Answers the calls of a program: `RunCalls` for the program of a run, `ProcessCalls` for a program in its own process. */
export interface CallAnswerer {
  answer(call: GuestCall, delegate: RunCallDelegate): Promise<CallReply>;
}

/** Where a run is stored when it is suspended, and where its calls and deliveries are recorded once it is resumed. */
export interface RunRecords {
  suspend(program: SuspendedProgram): Promise<void>;
  /** These three are written in call order: if a later write is stored, so are the earlier ones. */
  callMade(call: GuestCall): Awaitable<void>;
  callSent(call: GuestCall): Awaitable<void>;
  delivered(delivery: Delivery, position: number): Awaitable<void>;
  /** Resolves when all of the above are written. Throws if one could not be. */
  settled(): Awaitable<void>;
}

export interface RunOptions {
  readonly caller: CallerId;
  readonly calls: CallAnswerer;
  /** Absent if the run cannot be suspended: after `patienceMs` its calls are refused instead. */
  readonly records?: RunRecords;
  /** How long a run stays in its worker while it waits only for a person. */
  readonly patienceMs: number;
  /** Subscribes to the host's shutdown; returns the function that unsubscribes. */
  readonly onDrain?: (listener: () => void) => () => void;
  /** Called when the run starts or stops waiting only for people. */
  readonly onHeld?: (isHeld: boolean) => void;
  readonly client: RunClient;
  readonly signal?: StopSignal;
  readonly onLog?: (entry: LogEntry) => void;
}
