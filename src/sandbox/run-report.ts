import type { CallReply, GuestCall, LogEntry, Outcome, ResourceUsage } from '../domain/run.js';
import type { Delivery, Journal } from './journal/journal.js';

/** The reports of a program to the host while it runs and when it ends. */

/** Answers the calls of one program in the sandbox, and receives its logs and deliveries. `Run` implements it. */
export interface SandboxDelegate {
  /** Answers a call of the program. A rejection reaches the program as an error without host details. */
  onCall(call: GuestCall, signal: AbortSignal): Promise<CallReply>;
  onLog?(entry: LogEntry): void;
  /** The journal's delivery at this position is sent to the program now. */
  onDelivery?(delivery: Delivery, position: number): void;
}

export interface RunReport {
  readonly outcome: Outcome;
  readonly logs: readonly LogEntry[];
  readonly logsCut: boolean;
  readonly journal: Journal;
  readonly durationMs: number;
  readonly usage: ResourceUsage;
}

/** Usage only grows: after a rebuild the new worker's numbers count only if they are larger. */
export function mostOf(known: ResourceUsage, said: ResourceUsage): ResourceUsage {
  return {
    cpuMs: Math.max(known.cpuMs, said.cpuMs),
    memoryBytes: Math.max(known.memoryBytes, said.memoryBytes),
  };
}

/** The usage of a program so far. Suspended time does not count. */
export type UsedSoFar = Pick<RunReport, 'durationMs' | 'usage'>;

/** The host's state of a suspended program. */
export interface CarriedOver {
  /** Absent in runs stored by earlier versions. */
  readonly used?: UsedSoFar;
  readonly openCalls: readonly GuestCall[];
  readonly logs: readonly LogEntry[];
  readonly wakeAtMs: number | null;
}
