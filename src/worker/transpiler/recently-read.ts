const MAX_KEPT = 16;
/** Longer sources are not cached: the cache of each kind of source stays below four megabytes. */
const MAX_CHARACTERS = 32 * 1024;

/**
 * Results for recently read sources. Clients send the same program repeatedly with another input, and reading it takes a tenth of
 * a small run if many workers share a CPU cache.
 */
export class RecentlyRead<Result> {
  readonly #kept = new Map<string, Result>();

  /** `how`: everything the result depends on besides the source, on one line. */
  of(how: string, source: string, read: () => Result): Result {
    if (source.length > MAX_CHARACTERS) return read();
    const key = `${how}\n${source}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const result = read();
    this.#kept.set(key, result);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(oldest);
    }
    return result;
  }
}
