/** Runs one task at a time for each key, in the order of the requests. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    // The caller gets the error. The next task runs anyway.
    const done = mine.catch(() => {});
    this.#last.set(key, done);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
