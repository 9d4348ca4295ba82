import type { WorkerProcess } from './worker-process.js';

/** Starts processes, and keeps one ahead of need where that is wanted. */
export class SpareProcesses {
  readonly #launch: () => Promise<WorkerProcess>;
  readonly #keepsOne: boolean;
  readonly #spares: Promise<WorkerProcess>[] = [];
  /** Processes that have not sent their hello yet: closing waits for them too. */
  readonly #starts = new Set<Promise<WorkerProcess>>();
  #isClosed = false;
  /** Processes that were ever started. */
  started = 0;

  constructor(launch: () => Promise<WorkerProcess>, keepsOne: boolean) {
    this.#launch = launch;
    this.#keepsOne = keepsOne;
  }

  get count(): number {
    return this.#spares.length;
  }

  /** Resolves when so many are there. */
  async keep(wanted: number): Promise<void> {
    while (this.#spares.length < wanted && !this.#isClosed) this.#add();
    await Promise.all(this.#spares);
  }

  /** A spare, or a new one; and another spare behind it, where one is kept. */
  take(): Promise<WorkerProcess> {
    const taken = this.#spares.shift();
    const process =
      taken === undefined ? this.#start() : taken.then((ready) => (ready.hasExited ? this.#start() : ready));
    // Not before this one is there: two starts at once make both late.
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
    const all = [...this.#spares.splice(0), ...this.#starts];
    await Promise.all(all.map((starting) => starting.then((process) => process.close()).catch(() => {})));
  }

  #add(): void {
    const spare = this.#start();
    this.#spares.push(spare);
    // A spare that fails to start is not an error yet: the run that needs a process starts its own and gets the reason.
    spare.catch(() => {
      const index = this.#spares.indexOf(spare);
      if (index >= 0) this.#spares.splice(index, 1);
    });
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
