import type { EngineName } from '../../domain/engine.js';
import type { LogEntry, Outcome, ResourceUsage } from '../../domain/run.js';
import type { ClockRecord } from '../../wire/messages.js';
import { LogBuffer } from '../log-buffer.js';
import { type CarriedOver, mostOf, type RunReport, type SandboxDelegate, type UsedSoFar } from '../run-report.js';
import { ClockReads } from './clock-reads.js';
import { clockRecordOf, type Delivery, type Journal } from './journal.js';

/** The state of one program so far: its journal, its logs and its usage. It outlives the program's workers. */
export class RunRecord {
  readonly #journal: Journal;
  readonly #delegate: SandboxDelegate;
  readonly #logs: LogBuffer;
  readonly #clockReads: ClockReads;
  /** Start time, shifted so that suspended time does not count. */
  #begunAt = performance.now();
  #usage: ResourceUsage = { cpuMs: 0, memoryBytes: 0 };

  constructor(journal: Journal, delegate: SandboxDelegate) {
    this.#journal = journal;
    this.#delegate = delegate;
    this.#logs = new LogBuffer(journal.limits.maxLogBytes);
    this.#clockReads = new ClockReads(clockRecordOf(journal));
  }

  get logs(): readonly LogEntry[] {
    return this.#logs.entries;
  }

  get used(): UsedSoFar {
    return { durationMs: performance.now() - this.#begunAt, usage: this.#usage };
  }

  /** Takes over the logs and the usage of a suspended program. */
  carryOver({ logs, used }: Pick<CarriedOver, 'logs' | 'used'>): void {
    if (used !== undefined) {
      this.#begunAt -= used.durationMs;
      this.#usage = used.usage;
    }
    this.#logs.carryOver(logs);
  }

  countUsage(usage: ResourceUsage): void {
    this.#usage = mostOf(this.#usage, usage);
  }

  /** Journals a delivery, before it is sent. */
  deliver(delivery: Delivery): void {
    this.#journal.deliveries.push(delivery);
    this.#delegate.onDelivery?.(delivery, this.#journal.deliveries.length - 1);
  }

  /** From here on the program must be rebuilt in this engine. */
  noteEngine(engine: EngineName): void {
    const { deliveries, startedAtMs } = this.#journal;
    this.deliver({ kind: 'engine', atMs: deliveries.at(-1)?.atMs ?? startedAtMs, engine });
  }

  /**
   * Journals clock reads, before anything that the program did afterwards: a rebuilt program must read the same times.
   * Returns what is wrong with them, if anything.
   */
  clockRead({ reads, ticks }: ClockRecord): string | undefined {
    const problem = this.#clockReads.enter(reads, ticks);
    if (problem !== undefined) return problem;
    const { deliveries, startedAtMs } = this.#journal;
    this.deliver({ kind: 'clock', atMs: deliveries.at(-1)?.atMs ?? startedAtMs, reads, ticks });
    return undefined;
  }

  logged(number: number, entry: LogEntry): 'kept' | 'not kept' | 'too much' {
    const kept = this.#logs.enter(number, entry);
    if (kept === 'kept') this.#delegate.onLog?.(entry);
    return kept;
  }

  report(outcome: Outcome, logsCut: boolean): RunReport {
    return { outcome, logs: this.logs, logsCut, journal: this.#journal, ...this.used };
  }
}
