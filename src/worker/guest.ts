import type {
  CallNumber,
  CutOff,
  Failure,
  LogLevel,
  LostValues,
  RunId,
  SourcePosition,
  UnawaitedCalls,
} from '../domain/run.js';
import type { ClockRecord } from '../wire/messages.js';

/** How a program speaks to the host: the worker writes these as frames. */
export interface Outbox {
  call(execution: RunId, call: CallNumber, target: string, argumentsJson: Buffer): void;
  /** Blocks until the host has answered. Throws `ProgramDropped` when it says that the program is over instead. */
  callSync(
    execution: RunId,
    call: CallNumber,
    target: string,
    argumentsJson: Buffer,
  ): { ok: boolean; json: Buffer; atMs: number };
  /** Said again and again while a program computes: where nobody is left to answer to, the worker ends. */
  computing(nowMs: number): void;
  site(execution: RunId, call: CallNumber, places: readonly SourcePosition[]): void;
  clock(execution: RunId, record: ClockRecord): void;
  log(execution: RunId, entry: number, level: LogLevel, atMs: number, message: Buffer): void;
}

/** Unwinds a program that is over for the host. Nothing of it sees this: it is not an error of the program's world. */
export class ProgramDropped extends Error {}

/** What a program came to after it was started or something was delivered to it. */
export type Progress =
  | { readonly state: 'waiting'; readonly wakeAtMs: number | null }
  | ({ readonly state: 'ended'; readonly unawaited?: UnawaitedCalls } & (
      | {
          readonly failure: null;
          readonly resultJson: Buffer;
          readonly lost?: LostValues;
          readonly stillOpen?: UnawaitedCalls;
          readonly cutOff?: CutOff;
        }
      /** `soFarJson`: what it had assigned to its result by then. */
      | { readonly failure: Failure; readonly soFarJson?: Buffer }
    ));
