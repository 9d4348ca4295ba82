import { framesOf } from './stack.js';

/**
 * Finds calls that are never awaited. Code that awaits a promise, chains on it or passes it to `Promise.all` reads its
 * `constructor` first, so the promises of calls have a constructor that records the read. Reading a field of a promise, printing
 * it or putting it into the result does not read it.
 *
 * This is not a security control: a program that hides a call from it deceives only itself. All built-ins are saved at image time.
 */
const NativePromise = Promise;
const create = Object.create as (prototype: object | null, properties?: PropertyDescriptorMap) => object;
const freeze = Object.freeze;
const keysOf = Object.keys;
const setPrototypeOf = Object.setPrototypeOf as <Value extends object>(value: Value, prototype: object | null) => Value;
const stringify = JSON.stringify;
const apply = Reflect.apply;
const numbers = new WeakMap<object, number>();
const { get: numberOf, set: setNumber } = WeakMap.prototype;

/** Calls tracked at the same time. `Promise.all` of a thousand still waits for all of them. */
const MAX_FOLLOWED = 100;
const MAX_TOLD = 3;

export interface MadeCall {
  readonly name: string;
  readonly site: Error;
}

const unused = create(null) as Record<number, MadeCall>;
let followed = 0;

const prototype = freeze(
  create(NativePromise.prototype, {
    constructor: {
      get(this: object) {
        const number = apply(numberOf, numbers, [this]) as number | undefined;
        if (number !== undefined && unused[number] !== undefined) {
          delete unused[number];
          followed--;
        }
        return NativePromise;
      },
    },
  }),
);

/** The promise of a call, tracked until something uses it. */
export function follow(promise: Promise<unknown>, number: number, made: MadeCall): Promise<unknown> {
  if (followed >= MAX_FOLLOWED) return promise;
  followed++;
  unused[number] = made;
  apply(setNumber, numbers, [promise, number]);
  return setPrototypeOf(promise, prototype);
}

/**
 * JSON of `{unused, open, isRaceOver}`, the first two `{count, calls: [{name, times, stack}]}`: calls whose promise nothing used,
 * and others that are open. `pending`: the open calls.
 */
export function unawaitedIn(pending: Record<number, MadeCall>, isRaceOver: boolean): string {
  return stringify(setPrototypeOf({ unused: summaryOf(unused), open: summaryOf(pending, unused), isRaceOver }, null));
}

function summaryOf(made: Record<number, MadeCall>, except?: Record<number, MadeCall>): object {
  const ordered = keysOf(made);
  const calls: { name: string; times: number; stack: string }[] = setPrototypeOf([], null);
  let count = 0;
  for (let index = 0; index < ordered.length; index++) {
    const number = ordered[index] as unknown as number;
    if (except !== undefined && except[number] !== undefined) continue;
    count++;
    const { name, site } = made[number] as MadeCall;
    const stack = framesOf(site);
    let known = 0;
    while (known < calls.length && (calls[known]?.name !== name || calls[known]?.stack !== stack)) known++;
    const same = calls[known];
    if (same !== undefined) same.times++;
    else if (known < MAX_TOLD) calls[known] = setPrototypeOf({ name, times: 1, stack }, null);
  }
  return setPrototypeOf({ count, calls }, null);
}
