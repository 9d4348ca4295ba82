import { LOG_ENTRY_BYTES, MAX_LOG_ENTRIES } from '../domain/limits.js';
import type { LogEntry } from '../domain/run.js';

/** The logs of one program. Entries are numbered: a rebuilt program sends them again, and each is kept once. */
export class LogBuffer {
  readonly #maxBytes: number;
  readonly #entries: LogEntry[] = [];
  #bytes = 0;
  #seen = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  carryOver(entries: readonly LogEntry[]): void {
    this.#entries.push(...entries);
    this.#seen = entries.length;
    this.#bytes = entries.reduce((sum, entry) => sum + costOf(entry), 0);
  }

  /** `too much`: our worker cuts logs at the limit, so a worker that sends more has been taken over. */
  enter(number: number, entry: LogEntry): 'kept' | 'not kept' | 'too much' {
    if (number < this.#seen || this.#entries.length >= MAX_LOG_ENTRIES) return 'not kept';
    this.#bytes += costOf(entry);
    if (this.#bytes > this.#maxBytes) return 'too much';
    this.#seen = number + 1;
    this.#entries.push(entry);
    return 'kept';
  }
}

function costOf({ message }: LogEntry): number {
  return LOG_ENTRY_BYTES + Buffer.byteLength(message);
}
