/**
 * Errors that V8 itself raises have V8's messages. A program that reads one would depend on the engine that happens to run it. So
 * the message of such an error is hidden. Reading it sends the program back to QuickJS, which has its own messages. See
 * docs/decisions/0106-auto-is-the-default.md.
 *
 * A program gets an error that it did not create in a `catch` clause, which is compiled with a call of `hideText` (see
 * `transpiler/catch-clauses.ts`), or as the reason of a rejected promise.
 */
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
const { apply, construct } = Reflect;
const { add, has } = WeakSet.prototype;

const takeUnfit = (): ((reason: string) => void) => {
  const global = globalThis as unknown as Record<string, unknown>;
  const unfit = global['__host_unfit'] as (reason: string) => void;
  delete global['__host_unfit'];
  return unfit;
};
const unfit = takeUnfit();

/** If the engine raises these, they have its own messages. */
export const CLASSES = ['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError'] as const;
/** The message about an unknown name, the same in both engines. */
const SAME_TEXT = / is not defined$/;
const { test } = RegExp.prototype;

const prototypes = new WeakSet<object>();
/** Errors created by a program or by the boot code. */
const made = new WeakSet<object>();
let isOver = false;

/** The program has ended: its failure is reported with the message of the engine in which it failed. */
export function revealTexts(): void {
  isOver = true;
}

export function hideText(thrown: unknown): void {
  if (typeof thrown !== 'object' || thrown === null) return;
  const prototype = getPrototypeOf(thrown) as object | null;
  if (prototype === null || !(apply(has, prototypes, [prototype]) as boolean)) return;
  if (apply(has, made, [thrown]) as boolean) return;
  const message = getOwnPropertyDescriptor(thrown, 'message');
  if (message?.configurable !== true || typeof message.value !== 'string') return;
  const text = message.value;
  if (apply(test, SAME_TEXT, [text]) as boolean) return;
  defineProperty(thrown, 'message', {
    get() {
      if (!isOver) unfit('it reads the text of an error that the engine raised');
      return text;
    },
    set(this: object, value: unknown) {
      defineProperty(this, 'message', { value, writable: true, configurable: true, enumerable: false });
    },
    configurable: true,
    enumerable: false,
  });
}

export function watchErrors(): void {
  for (const name of CLASSES) watchClass(name);
  watchRejections();
}

function watchClass(name: (typeof CLASSES)[number]): void {
  const Native = globalThis[name];
  const { prototype } = Native;
  apply(add, prototypes, [prototype]);
  const Watched = function (...input: unknown[]): unknown {
    const error = construct(Native, input, new.target ?? Watched) as object;
    apply(add, made, [error]);
    return error;
  };
  setPrototypeOf(Watched, getPrototypeOf(Native) as object);
  defineProperty(Watched, 'name', { value: name, configurable: true });
  defineProperty(Watched, 'length', { value: Native.length, configurable: true });
  defineProperty(Watched, 'prototype', { value: prototype, writable: false, configurable: false });
  defineProperty(prototype, 'constructor', { value: Watched, writable: true, configurable: true, enumerable: false });
  defineProperty(globalThis, name, { value: Watched, writable: true, configurable: true, enumerable: false });
}

/** `catch`, `allSettled`, `any` and the others call this; `await` does not, and ends in a `catch` clause. */
function watchRejections(): void {
  const { then: nativeThen } = Promise.prototype;
  // A method, because methods have no `prototype` property.
  const { watched } = {
    watched(this: Promise<unknown>, onFulfilled: unknown, onRejected: unknown) {
      if (typeof onRejected !== 'function') return apply(nativeThen, this, [onFulfilled, onRejected]) as unknown;
      const rejected = (reason: unknown) => {
        hideText(reason);
        return apply(onRejected, undefined, [reason]) as unknown;
      };
      return apply(nativeThen, this, [onFulfilled, rejected]) as unknown;
    },
  };
  defineProperty(watched, 'name', { value: 'then', configurable: true });
  void defineProperty(Promise.prototype, 'then', {
    value: watched,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}
