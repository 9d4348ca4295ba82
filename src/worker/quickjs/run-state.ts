import type { RunId } from '../../domain/run.js';
import type { ClockRecord } from '../../wire/messages.js';
import type { ClockState } from './clock.js';
import type { Rejections } from './rejections.js';

export interface QuickJsRunOptions {
  readonly execution: RunId;
  readonly seed: string;
  readonly startedAtMs: number;
  readonly timeoutMs: number;
  readonly maxMemoryBytes: number;
  readonly maxLogBytes: number;
  readonly cpuQuota: number;
  readonly form: ProgramForm;
  readonly clock: ClockRecord | null;
  readonly pausesAfterMs: number | null;
}

export type ProgramForm = 'module' | 'script' | 'body';

/** The state outside the linear memory. With the memory it is the complete state of a program: see `suspension.ts`. */
export interface QuickJsRunState extends Rejections, ClockState {
  wakeAtMs: number | null;
  openCalls: number;
  logEntries: number;
  logBytes: number;
  logsCut: boolean;
  mainPromise: number;
  randomState: bigint;
  cpuMs: number;
  peakMemoryBytes: number;
}

export function freshState({ startedAtMs, seed }: QuickJsRunOptions): QuickJsRunState {
  return {
    clockMs: startedAtMs,
    clockReads: 0,
    clockTicks: 0,
    wakeAtMs: null,
    openCalls: 0,
    logEntries: 0,
    logBytes: 0,
    logsCut: false,
    mainPromise: 0,
    unhandledCount: 0,
    unhandled: [],
    randomState: BigInt(seed),
    cpuMs: 0,
    peakMemoryBytes: 0,
  };
}
