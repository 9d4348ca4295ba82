import type {
  CallNumber,
  ExecutionId,
  Failure,
  LogLevel,
  LostValues,
  SourcePosition,
  UnawaitedCalls,
} from '../domain/execution.js';
import type { ClockRecord } from '../wire/messages.js';

/** How a program speaks to the host: the worker writes these as frames. */
export interface Outbox {
  call(execution: ExecutionId, call: CallNumber, target: string, argumentsJson: Buffer): void;
  /** Blocks until the host has answered. Throws `ProgramDropped` when it says that the program is over instead. */
  callSync(
    execution: ExecutionId,
    call: CallNumber,
    target: string,
    argumentsJson: Buffer,
  ): { ok: boolean; json: Buffer; atMs: number };
  /** Said again and again while a program computes: where nobody is left to answer to, the worker ends. */
  computing(nowMs: number): void;
  site(execution: ExecutionId, call: CallNumber, places: readonly SourcePosition[]): void;
  clock(execution: ExecutionId, record: ClockRecord): void;
  log(execution: ExecutionId, entry: number, level: LogLevel, atMs: number, message: Buffer): void;
}

/** Unwinds a program that is over for the host. Nothing of it sees this: it is no error of the program's world. */
export class ProgramDropped extends Error {}

/** What a program came to after it was started or something was delivered to it. */
export type Progress =
  | { readonly state: 'waiting'; readonly wakeAtMs: number | null }
  | ({ readonly state: 'ended'; readonly unawaited?: UnawaitedCalls } & (
      | { readonly failure: null; readonly resultJson: Buffer; readonly lost?: LostValues }
      /** `soFarJson`: what it had assigned to its result by then. */
      | { readonly failure: Failure; readonly soFarJson?: Buffer }
    ));
