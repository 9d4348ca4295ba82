/**
 * Features that QuickJS has and an older V8 lacks, if the name alone does not show that a program uses them, or if programs use
 * them often. Any other missing feature keeps a program in QuickJS: see `missingNames`.
 */
type Step<Value> = (value: Value, index: number) => unknown;

interface Source {
  readonly iterator: Iterator<unknown>;
  readonly next: Iterator<unknown>['next'];
}

const { defineProperty, getPrototypeOf, create } = Object;
const { apply, ownKeys } = Reflect;
const IteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]())) as object;

export function addMissing(): void {
  addIteratorHelpers();
  const global = globalThis as { __host_isError?: (value: unknown) => boolean };
  const isNativeError = global.__host_isError as (value: unknown) => boolean;
  delete global.__host_isError;
  add(Error, 'isError', function isError(value: unknown) {
    return isNativeError(value);
  });
  add(Object, 'groupBy', function groupBy(items: Iterable<unknown>, keyOf: Step<unknown>) {
    const groups = create(null) as Record<PropertyKey, unknown[]>;
    let index = 0;
    for (const item of items) {
      const key = keyOf(item, index++) as PropertyKey;
      const name = typeof key === 'symbol' ? key : String(key);
      const group = groups[name];
      if (group === undefined) groups[name] = [item];
      else group.push(item);
    }
    return groups;
  });
  add(Map, 'groupBy', function groupBy(items: Iterable<unknown>, keyOf: Step<unknown>) {
    const groups = new Map<unknown, unknown[]>();
    let index = 0;
    for (const item of items) {
      const key = keyOf(item, index++);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
    return groups;
  });
  add(Promise, 'withResolvers', function withResolvers(this: PromiseConstructor) {
    let resolve: unknown;
    let reject: unknown;
    const promise = new this((resolved, rejected) => {
      resolve = resolved;
      reject = rejected;
    });
    return { promise, resolve, reject };
  });
  add(Promise, 'try', function (this: PromiseConstructor, callback: (...input: unknown[]) => unknown, ...input: []) {
    return new this((resolve) => resolve(callback(...input)));
  });
}

interface Base64Bytes {
  toBase64?: unknown;
}
declare const atob: (base64: string) => string;
declare const btoa: (binary: string) => string;

/**
 * For the boot code alone, which uses no options: a program that names these stays in QuickJS. Returns a function that removes
 * them.
 */
export function lendBase64(): () => void {
  const prototype = Uint8Array.prototype as Uint8Array & Base64Bytes;
  if (prototype.toBase64 !== undefined) return () => {};
  const decode = atob;
  const encode = btoa;
  const { fromCharCode } = String;
  const { subarray } = prototype;
  const { charCodeAt } = String.prototype;
  add(Uint8Array, 'fromBase64', (text: string) => {
    const binary = decode(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) bytes[at] = apply(charCodeAt, binary, [at]) as number;
    return bytes;
  });
  add(prototype, 'toBase64', function (this: Uint8Array) {
    let binary = '';
    for (let at = 0; at < this.length; at += ARGUMENTS)
      binary += apply(fromCharCode, undefined, apply(subarray, this, [at, at + ARGUMENTS]) as never) as string;
    return encode(binary);
  });
  return () => {
    delete prototype.toBase64;
    delete (Uint8Array as { fromBase64?: unknown }).fromBase64;
  };
}

const ARGUMENTS = 16_384;

function addIteratorHelpers(): void {
  const global = globalThis as { Iterator?: { prototype: object } };
  const IteratorClass =
    global.Iterator ??
    function Iterator(this: unknown) {
      if (new.target === undefined || new.target === IteratorClass)
        throw new TypeError('Iterator is not directly constructable');
    };
  if (global.Iterator === undefined) {
    defineProperty(IteratorClass, 'prototype', { value: IteratorPrototype, writable: false });
    defineProperty(globalThis, 'Iterator', { value: IteratorClass, writable: true, configurable: true });
    defineProperty(IteratorPrototype, 'constructor', { value: IteratorClass, writable: true, configurable: true });
    const tag = { value: 'Iterator', writable: true, configurable: true };
    defineProperty(IteratorPrototype, Symbol.toStringTag, tag);
  }
  add(IteratorClass, 'from', function from(value: Iterable<unknown> | Iterator<unknown>) {
    const method = (value as Iterable<unknown>)[Symbol.iterator];
    const iterator = typeof method === 'function' ? apply(method, value, []) : (value as Iterator<unknown>);
    return iterator instanceof (IteratorClass as never) ? iterator : walk(sourceOf(iterator));
  });
  add(IteratorClass, 'concat', function* concat(...parts: Iterable<unknown>[]) {
    for (const part of parts) yield* part;
  });
  for (const name of ownKeys(HELPERS) as string[]) add(IteratorPrototype, name, HELPERS[name] as Helper);
}

type Helper = (this: Iterator<unknown>, argument: never, start?: unknown) => unknown;

const HELPERS: Record<string, Helper> = {
  map(step: Step<unknown>) {
    mustBeFunction(step);
    return (function* (source) {
      let index = 0;
      for (const value of walk(source)) yield step(value, index++);
    })(sourceOf(this));
  },
  filter(step: Step<unknown>) {
    mustBeFunction(step);
    return (function* (source) {
      let index = 0;
      for (const value of walk(source)) if (step(value, index++)) yield value;
    })(sourceOf(this));
  },
  take(limit: unknown) {
    const most = countOf(limit);
    return (function* (source) {
      let left = most;
      if (left === 0) return void source.iterator.return?.();
      for (const value of walk(source)) {
        yield value;
        if (--left <= 0) return;
      }
    })(sourceOf(this));
  },
  drop(limit: unknown) {
    let left = countOf(limit);
    return (function* (source) {
      for (const value of walk(source))
        if (left > 0) left--;
        else yield value;
    })(sourceOf(this));
  },
  flatMap(step: Step<unknown>) {
    mustBeFunction(step);
    return (function* (source) {
      let index = 0;
      for (const value of walk(source)) yield* step(value, index++) as Iterable<unknown>;
    })(sourceOf(this));
  },
  reduce(step: (sum: unknown, value: unknown, index: number) => unknown) {
    mustBeFunction(step);
    // biome-ignore lint/complexity/noArguments: an initial value of undefined is one.
    const hasStart = arguments.length > 1;
    // biome-ignore lint/complexity/noArguments: as above.
    let sum: unknown = arguments[1];
    let index = 0;
    let isFirst = !hasStart;
    for (const value of walk(sourceOf(this))) {
      sum = isFirst ? value : step(sum, value, index);
      isFirst = false;
      index++;
    }
    if (isFirst) throw new TypeError('Reduce of a done iterator with no initial value');
    return sum;
  },
  toArray() {
    return [...walk(sourceOf(this))];
  },
  forEach(step: Step<unknown>) {
    mustBeFunction(step);
    let index = 0;
    for (const value of walk(sourceOf(this))) step(value, index++);
  },
  some(step: Step<unknown>) {
    mustBeFunction(step);
    let index = 0;
    for (const value of walk(sourceOf(this))) if (step(value, index++)) return true;
    return false;
  },
  every(step: Step<unknown>) {
    mustBeFunction(step);
    let index = 0;
    for (const value of walk(sourceOf(this))) if (!step(value, index++)) return false;
    return true;
  },
  find(step: Step<unknown>) {
    mustBeFunction(step);
    let index = 0;
    for (const value of walk(sourceOf(this))) if (step(value, index++)) return value;
    return undefined;
  },
  includes(wanted: unknown) {
    for (const value of walk(sourceOf(this)))
      if (value === wanted || (Number.isNaN(value) && Number.isNaN(wanted))) return true;
    return false;
  },
  join(separator: unknown) {
    return [...walk(sourceOf(this))].join(separator as string);
  },
};

/** The method is read once, as the language specifies. */
function sourceOf(iterator: unknown): Source {
  if (typeof iterator !== 'object' || iterator === null) throw new TypeError('not an object');
  return { iterator: iterator as Iterator<unknown>, next: (iterator as Iterator<unknown>).next };
}

function* walk({ iterator, next }: Source): Generator<unknown> {
  let isDone = false;
  try {
    for (;;) {
      isDone = true;
      const step = apply(next, iterator, []) as IteratorResult<unknown>;
      if (step.done === true) return;
      isDone = false;
      yield step.value;
    }
  } finally {
    if (!isDone) iterator.return?.();
  }
}

function countOf(limit: unknown): number {
  const count = Number(limit);
  if (Number.isNaN(count) || count < 0) throw new RangeError('must be positive');
  return Math.trunc(count);
}

function mustBeFunction(value: unknown): void {
  if (typeof value !== 'function') throw new TypeError('not a function');
}

function add(target: object, name: string, value: (...input: never[]) => unknown): void {
  if (Object.hasOwn(target, name)) return;
  defineProperty(value, 'name', { value: name, configurable: true });
  defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
}
