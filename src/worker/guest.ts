import type {
  CallNumber,
  ConsoleLevel,
  CutOff,
  Failure,
  LostValues,
  RunId,
  SourcePosition,
  UnawaitedCalls,
} from '../domain/run.js';
import type { ClockRecord } from '../wire/messages.js';

/** A program's messages to the host: the worker writes them as frames. */
export interface Outbox {
  call(execution: RunId, call: CallNumber, target: string, argumentsJson: Buffer): void;
  /** Blocks until the host has answered. Throws `ProgramDropped` if the host ends the program instead. */
  callSync(
    execution: RunId,
    call: CallNumber,
    target: string,
    argumentsJson: Buffer,
  ): { ok: boolean; json: Buffer; atMs: number };
  /** Called repeatedly while a program computes. The worker exits if the host is gone. */
  computing(nowMs: number): void;
  site(execution: RunId, call: CallNumber, places: readonly SourcePosition[]): void;
  clock(execution: RunId, record: ClockRecord): void;
  log(execution: RunId, entry: number, level: ConsoleLevel, atMs: number, message: Buffer): void;
}

/** Unwinds a program that the host has ended. The program never sees it, because it is not an error of the program's realm. */
export class ProgramDropped extends Error {}

/** The state of a program after it was started or received a delivery. */
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
      /** `soFarJson`: the result it had assigned so far. */
      | { readonly failure: Failure; readonly soFarJson?: Buffer }
    ));
