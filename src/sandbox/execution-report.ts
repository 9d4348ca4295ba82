import type { CallReply, GuestCall, LogEntry, Outcome, ResourceUsage } from '../domain/execution.js';
import type { Delivery, Journal } from './journal.js';

/** What a program says to whoever started it, on its way and at its end. */

export interface ExecutionHandlers {
  /** Answers a call of the program. Rejections reach the program as an error that says nothing of ours. */
  onCall(call: GuestCall, signal: AbortSignal): Promise<CallReply>;
  onLog?(entry: LogEntry): void;
  /** Something reaches the program now, as the journal has it at this position. */
  onDelivery?(delivery: Delivery, position: number): void;
  /** A call was answered after its program had been suspended: whoever resumes it must hand this in again. */
  onLateReply?(call: GuestCall, reply: CallReply): void;
}

export interface ExecutionReport {
  readonly outcome: Outcome;
  readonly logs: readonly LogEntry[];
  readonly logsCut: boolean;
  readonly journal: Journal;
  readonly durationMs: number;
  readonly usage: ResourceUsage;
}

/** A worker's account grows; what another one says of a program that begins again counts where it is more. */
export function mostOf(known: ResourceUsage, said: ResourceUsage): ResourceUsage {
  return {
    cpuMs: Math.max(known.cpuMs, said.cpuMs),
    memoryBytes: Math.max(known.memoryBytes, said.memoryBytes),
  };
}

/** What a suspended program leaves behind on the host's side. */
export interface CarriedOver {
  readonly openCalls: readonly GuestCall[];
  readonly logs: readonly LogEntry[];
  readonly wakeAtMs: number | null;
}
