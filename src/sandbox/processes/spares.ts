import { HostError } from '../../domain/errors.js';
import { keyOf, type SharedSpec } from './process-spec.js';

export interface SpareOptions {
  /** Processes kept ready for each shape that is in use. */
  readonly perShape: number;
  /** How long unused spares are kept. */
  readonly idleMs: number;
}

/** Shapes for which spares are kept: the usual limits of each language, and two more. */
const MAX_SHAPES = 4;
/** A short program should not share the CPU with the start of its successor. */
const REFILL_DELAY_MS = 20;

/** A spare: a process that is ready, or a jail that waits for a program. */
export interface Spare {
  readonly isUsable: boolean;
  close(): Promise<void>;
}

interface Shelf<ProcessSpec, Kept> {
  readonly shape: ProcessSpec;
  readonly ready: Promise<Kept>[];
  lastUseMs: number;
  refill: NodeJS.Timeout | undefined;
}

/** Processes that wait for a program. Each runs only one: whatever a program does to its process ends with it. */
export class Spares<ProcessSpec extends SharedSpec, Kept extends Spare> {
  readonly #options: SpareOptions;
  readonly #start: (shape: ProcessSpec) => Promise<Kept>;
  /** Least recently used first. */
  readonly #shelves = new Map<string, Shelf<ProcessSpec, Kept>>();
  readonly #starting = new Set<Promise<unknown>>();
  readonly #sweeper: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: SpareOptions, start: (shape: ProcessSpec) => Promise<Kept>) {
    this.#options = options;
    this.#start = start;
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(1_000, options.idleMs / 4));
    this.#sweeper.unref();
  }

  /** A process for one program, ready if one was kept. The next one is started in the meantime. */
  async take(shape: ProcessSpec): Promise<Kept> {
    for (;;) {
      if (this.#isClosed) throw new HostError('shutting_down', 'the sandbox is shutting down');
      const shelf = this.#shelf(shape);
      this.#refillLater(shelf);
      const spare = shelf.ready.shift();
      const taken = await (spare ?? this.#begin(shape));
      // A spare that died before its use is not an error.
      if (taken.isUsable && !this.#isClosed) return taken;
      await taken.close();
    }
  }

  /** Waits until all the spares to keep are ready. */
  async warm(shape: ProcessSpec): Promise<void> {
    const shelf = this.#shelf(shape);
    this.#refill(shelf);
    await Promise.all(shelf.ready);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    await Promise.all([...this.#shelves.values()].map((shelf) => this.#clear(shelf)));
    this.#shelves.clear();
    // These processes are already promised to runs. The run sees that this is closed, and closes its process.
    await Promise.all(this.#starting);
  }

  #shelf(shape: ProcessSpec): Shelf<ProcessSpec, Kept> {
    const key = keyOf(shape);
    const shelf = this.#shelves.get(key) ?? { shape, ready: [], lastUseMs: 0, refill: undefined };
    shelf.lastUseMs = performance.now();
    this.#shelves.delete(key);
    this.#shelves.set(key, shelf);
    for (const [oldest, other] of this.#shelves) {
      if (this.#shelves.size <= MAX_SHAPES) break;
      this.#shelves.delete(oldest);
      void this.#clear(other);
    }
    return shelf;
  }

  #refillLater(shelf: Shelf<ProcessSpec, Kept>): void {
    shelf.refill ??= setTimeout(() => this.#refill(shelf), REFILL_DELAY_MS);
  }

  #refill(shelf: Shelf<ProcessSpec, Kept>): void {
    clearTimeout(shelf.refill);
    shelf.refill = undefined;
    if (this.#isClosed || this.#shelves.get(keyOf(shelf.shape)) !== shelf) return;
    while (shelf.ready.length < this.#options.perShape) {
      const starting = this.#begin(shelf.shape);
      shelf.ready.push(starting);
      // A spare that fails to start is not an error yet: the run that needs a process starts its own and gets the reason.
      starting.catch(() => {
        const at = shelf.ready.indexOf(starting);
        if (at >= 0) void shelf.ready.splice(at, 1);
      });
    }
  }

  #begin(shape: ProcessSpec): Promise<Kept> {
    const starting = this.#start(shape);
    const settled: Promise<unknown> = starting.catch(() => {}).finally(() => this.#starting.delete(settled));
    this.#starting.add(settled);
    return starting;
  }

  async #clear(shelf: Shelf<ProcessSpec, Kept>): Promise<void> {
    clearTimeout(shelf.refill);
    shelf.refill = undefined;
    await Promise.all(shelf.ready.splice(0).map((starting) => starting.then((spare) => spare.close()).catch(() => {})));
  }

  #sweep(): void {
    for (const [key, shelf] of this.#shelves) {
      if (performance.now() - shelf.lastUseMs <= this.#options.idleMs) continue;
      this.#shelves.delete(key);
      void this.#clear(shelf);
    }
  }
}
