/**
 * Finds calls that nobody waits for. Whatever awaits a promise, chains on it or hands it to `Promise.all` reads its
 * `constructor` first, so the promises of calls have one that notes it, as in the engine of other contracts.
 *
 * Nothing is guarded here: a program that hides a call from this deceives itself.
 */
export class CallPromises {
  readonly #unused = new Map<object, UnusedCall>();
  readonly #prototype: object;

  constructor() {
    const unused = this.#unused;
    this.#prototype = Object.create(Promise.prototype, {
      constructor: {
        get(this: object) {
          unused.delete(this);
          return Promise;
        },
      },
    }) as object;
  }

  /** The promise of a call, which is followed until something uses it. */
  follow<Value>(promise: Promise<Value>, name: string, site: Error): Promise<Value> {
    if (this.#unused.size >= MAX_FOLLOWED) return promise;
    this.#unused.set(promise, { name, site });
    return Object.setPrototypeOf(promise, this.#prototype) as Promise<Value>;
  }

  /** What to tell of calls that were never waited for; nothing where there is none. `lineOf`: of a stack. */
  warning(lineOf: (stack: string) => number | undefined): string {
    const calls = [...this.#unused.values()];
    if (calls.length === 0) return '';
    const told = calls.slice(0, MAX_TOLD).map(({ name, site }) => {
      const line = lineOf(site.stack ?? '');
      return `${name}${line === undefined ? '' : ` at line ${line}`}`;
    });
    const more = calls.length > MAX_TOLD ? `; and ${calls.length - MAX_TOLD} more` : '';
    return `warning: not awaited: ${told.join('; ')}${more}. Write \`await\` in front of each call.\n`;
  }
}

interface UnusedCall {
  readonly name: string;
  readonly site: Error;
}

/** Calls that are followed at the same time: `Promise.all` of a thousand still waits for all of them. */
const MAX_FOLLOWED = 100;
const MAX_TOLD = 3;
