/**
 * Finds calls that are never awaited. Code that awaits a promise, chains on it or passes it to `Promise.all` reads its
 * `constructor` first, so the promises of calls have a constructor that records the read, as QuickJS does for other contracts.
 *
 * This is not a security control: a program that hides a call from it deceives only itself.
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

  /** The promise of a call, tracked until something uses it. */
  follow<Value>(promise: Promise<Value>, name: string, site: Error): Promise<Value> {
    if (this.#unused.size >= MAX_FOLLOWED) return promise;
    this.#unused.set(promise, { name, site });
    return Object.setPrototypeOf(promise, this.#prototype) as Promise<Value>;
  }

  /** The warning about calls that were never awaited; empty if there are none. `lineOf`: the program's line in a stack. */
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

/** Calls tracked at the same time. `Promise.all` of a thousand still waits for all of them. */
const MAX_FOLLOWED = 100;
const MAX_TOLD = 3;
