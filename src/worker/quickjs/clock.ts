import { MAX_CLOCK_TICKS, MAXIMUM_LIMITS } from '../../domain/limits.js';
import type { ClockRecord } from '../../wire/messages.js';

/** The state of a program's clock besides its record; kept when the program is suspended. */
export interface ClockState {
  clockMs: number;
  /** How often the program has read its clock. */
  clockReads: number;
  /** How many of these reads moved it. */
  clockTicks: number;
}

/** In one slice of work, the step between ticks starts at 1 ms and doubles after this many ticks: a loop of reads records little. */
const TICKS_PER_STEP = 256;
/** Beyond this many ticks of one run they are `COARSE_MS` apart: the rest lasts for the longest run, so that a loop that waits for the clock ends. */
const FINE_TICKS = MAX_CLOCK_TICKS * (3 / 4);
const COARSE_MS = Math.ceil(MAXIMUM_LIMITS.timeoutMs / (MAX_CLOCK_TICKS - FINE_TICKS));

/**
 * The clock of one program. It moves while the program computes, and every read that finds it moved is reported by its ordinal. A
 * program rebuilt from its journal gets the same times for the same reads, then the machine's own.
 */
export class ProgramClock {
  readonly #state: ClockState;
  readonly #startedAtMs: number;
  /** Absent in journals of earlier versions, whose clocks did not move. Such a program keeps that behaviour. */
  readonly #recorded: ClockRecord | null;
  #nextRecorded = 0;
  #sliceTicks = 0;
  #reportedReads: number;
  #unreported: number[] = [];

  constructor(state: ClockState, recorded: ClockRecord | null, startedAtMs: number) {
    this.#state = state;
    this.#recorded = recorded;
    this.#startedAtMs = startedAtMs;
    const ticks = recorded?.ticks ?? [];
    while (this.#nextRecorded < ticks.length && (ticks[this.#nextRecorded] as number) < state.clockReads)
      this.#nextRecorded += 2;
    this.#reportedReads = Math.max(state.clockReads, recorded?.reads ?? 0);
  }

  /** One read, by the program or for the time of a log line. */
  read(): number {
    const state = this.#state;
    const read = state.clockReads++;
    const recorded = this.#recorded;
    if (recorded === null) return state.clockMs;
    if (read < recorded.reads) {
      if (recorded.ticks[this.#nextRecorded] === read) {
        state.clockMs = Math.max(state.clockMs, this.#startedAtMs + (recorded.ticks[this.#nextRecorded + 1] as number));
        state.clockTicks += 1;
        this.#nextRecorded += 2;
      }
      return state.clockMs;
    }
    const nowMs = Date.now();
    const leastMs = state.clockTicks < FINE_TICKS ? 1 : COARSE_MS;
    const stepMs = Math.max(leastMs, 2 ** Math.floor(this.#sliceTicks / TICKS_PER_STEP));
    if (nowMs - state.clockMs >= stepMs && state.clockTicks < MAX_CLOCK_TICKS) {
      state.clockMs = nowMs;
      state.clockTicks += 1;
      this.#sliceTicks += 1;
      this.#unreported.push(read, nowMs - this.#startedAtMs);
    }
    return state.clockMs;
  }

  /** A delivery is made at this time. */
  deliver(atMs: number): void {
    this.#state.clockMs = Math.max(this.#state.clockMs, atMs);
    this.#sliceTicks = 0;
  }

  /** The reads not reported to the host yet: how many there were, and those that found the clock moved. */
  takeReport(): ClockRecord | undefined {
    const { clockReads } = this.#state;
    if (clockReads <= this.#reportedReads || this.#recorded === null) return undefined;
    const ticks = this.#unreported;
    this.#unreported = [];
    this.#reportedReads = clockReads;
    return { reads: clockReads, ticks };
  }

  /** Whether a read found the clock moved that was not reported to the host yet. */
  get hasMoved(): boolean {
    return this.#unreported.length > 0;
  }
}
