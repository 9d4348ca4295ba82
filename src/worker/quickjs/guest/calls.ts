import type { GuestErrorData } from './errors.js';
import { createGuestError } from './errors.js';
import { host } from './host.js';
import { rawStackOf } from './stack.js';

/**
 * Calls the program has made and not had answered. Taken at image time and kept off every prototype: a program that
 * patches `Promise`, `Map` or `JSON` later changes nothing here.
 */
const stringify = JSON.stringify;
const parse = JSON.parse;
const NativePromise = Promise;
const NativeError = Error;
const freeze = Object.freeze;
const keysOf = Object.keys;
const defineProperty = Object.defineProperty;
const setPrototypeOf = Object.setPrototypeOf;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** Where in the program the call was made: the error of a failed call points there. */
  readonly site: Error;
}

const pending: Record<number, Pending> = Object.create(null);
/** Counts what was sent. Arguments that cannot be, or that make calls themselves while they are written, leave no gap. */
let lastNumber = 0;

type Callable = (...input: unknown[]) => unknown;

/** An async function of a virtual module. */
export function bindCall(name: string, target: string): Callable {
  const call = (...input: unknown[]) =>
    new NativePromise<unknown>((resolve, reject) => {
      const argumentsJson = jsonOf(input);
      const number = lastNumber + 1;
      host.call(number, target, argumentsJson);
      lastNumber = number;
      pending[number] = { resolve, reject, site: new NativeError() };
    });
  return named(call, name);
}

/** A blocking function of a virtual module, for contracts whose calls are synchronous. */
export function bindCallSync(name: string, target: string): Callable {
  const call = (...input: unknown[]) => {
    const argumentsJson = jsonOf(input);
    const number = lastNumber + 1;
    const replyJson = host.callSync(number, target, argumentsJson);
    lastNumber = number;
    const reply = parse(replyJson) as { ok: boolean; value?: unknown; error?: GuestErrorData };
    if (reply.ok) return reply.value;
    throw createGuestError(reply.error as GuestErrorData);
  };
  return named(call, name);
}

/** Hands an answer to the program. Answers to calls it never made, or twice, are ignored. */
export function deliver(number: number, ok: boolean, value: unknown): void {
  const call = pending[number];
  if (call === undefined) return;
  delete pending[number];
  if (ok) call.resolve(value);
  else call.reject(createGuestError(value as GuestErrorData, call.site));
}

/** The stack with which an open call was made, as the engine wrote it. */
export function siteOf(number: number): string {
  const call = pending[number];
  return call === undefined ? '' : rawStackOf(call.site);
}

/** A constant of a virtual module: plain data that nobody can change. */
export function bindValue(json: string): unknown {
  return deepFreeze(parse(json));
}

/** Always a JSON array. Without its prototype, a program's `Array.prototype.toJSON` does not stand in for the list itself. */
function jsonOf(input: unknown[]): string {
  return stringify(setPrototypeOf(input, null));
}

function named(call: Callable, name: string): Callable {
  // No prototype: a `get` on a program's `Object.prototype` would make this an accessor.
  defineProperty(call, 'name', { __proto__: null, value: name } as PropertyDescriptor);
  return freeze(call);
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // By index: modules are loaded when first imported, and by then a program may have patched the iterator of arrays.
  const keys = keysOf(value);
  for (let index = 0; index < keys.length; index++)
    deepFreeze((value as Record<string, unknown>)[keys[index] as string]);
  return freeze(value);
}
