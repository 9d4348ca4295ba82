import type { WorkerProcess } from '../workers/worker-process.js';

interface Spare {
  readonly process: Promise<WorkerProcess>;
  isReady: boolean;
}

/** Starts processes, and keeps spares if asked to. */
export class SpareProcesses {
  readonly #launch: () => Promise<WorkerProcess>;
  readonly #keepsOne: boolean;
  readonly #spares: Spare[] = [];
  /** Processes that have not sent their hello yet: closing waits for them too. */
  readonly #starts = new Set<Promise<WorkerProcess>>();
  #isClosed = false;
  /** Processes started since the host started. */
  started = 0;

  constructor(launch: () => Promise<WorkerProcess>, keepsOne: boolean) {
    this.#launch = launch;
    this.#keepsOne = keepsOne;
  }

  get count(): number {
    return this.#spares.length;
  }

  /** Whether a spare can be used at once. */
  get isReady(): boolean {
    return this.#spares.some(({ isReady }) => isReady);
  }

  /** Spares that have not sent their hello. */
  get inStart(): number {
    return this.#spares.length - this.#spares.filter(({ isReady }) => isReady).length;
  }

  /** Resolves when a spare can be used, or none can be started. */
  async untilReady(): Promise<void> {
    await Promise.any(this.#spares.map(({ process }) => process)).catch(() => {});
  }

  /** Resolves when `wanted` spares are ready. */
  async keep(wanted: number): Promise<void> {
    while (this.#spares.length < wanted && !this.#isClosed) this.#add();
    await Promise.all(this.#spares.map(({ process }) => process));
  }

  /** Takes a spare or a new process, and starts another spare if spares are kept. */
  take(): Promise<WorkerProcess> {
    const [taken] = this.#spares.splice(
      Math.max(
        0,
        this.#spares.findIndex(({ isReady }) => isReady),
      ),
      1,
    );
    const process =
      taken === undefined ? this.#start() : taken.process.then((ready) => (ready.hasExited ? this.#start() : ready));
    // Wait for this process first: two starts at once make both late.
    void process.then(
      () => {
        if (this.#keepsOne && this.#spares.length === 0 && !this.#isClosed) this.#add();
      },
      () => {},
    );
    return process;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#spares.splice(0).map(({ process }) => process), ...this.#starts];
    await Promise.all(all.map((starting) => starting.then((process) => process.close()).catch(() => {})));
  }

  #add(): void {
    const spare: Spare = { process: this.#start(), isReady: false };
    this.#spares.push(spare);
    spare.process.then(
      () => {
        spare.isReady = true;
      },
      // Not an error yet: the run that needs a process starts its own and gets the reason.
      () => {
        const index = this.#spares.indexOf(spare);
        if (index >= 0) this.#spares.splice(index, 1);
      },
    );
  }

  #start(): Promise<WorkerProcess> {
    this.started++;
    const starting = this.#launch();
    this.#starts.add(starting);
    const forget = () => void this.#starts.delete(starting);
    starting.then(forget, forget);
    return starting;
  }
}
