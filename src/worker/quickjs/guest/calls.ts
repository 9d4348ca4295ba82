// biome-ignore-all lint/style/useTemplate: the engine turns template literals into calls of String.prototype.concat, which a program can patch.

import { follow, type MadeCall, unawaitedIn } from './call-promises.js';
import type { GuestErrorData } from './errors.js';
import { createGuestError } from './errors.js';
import { host } from './host.js';
import { type Loss, placeOf, writeInput } from './lossy-input.js';
import { watchRaces } from './races.js';
import { noteAnswer } from './script-answer.js';
import { rawStackOf } from './stack.js';
import { lastTimer, newestTimer } from './timers.js';

/**
 * The open calls of the program. All built-ins are saved at image time and used without prototypes: a program that patches
 * `Promise`, `Map` or `JSON` later changes nothing here.
 */
const parse = JSON.parse;
const NativePromise = Promise;
const NativeError = Error;
const NativeTypeError = TypeError;
const NativeRangeError = RangeError;
const apply = Reflect.apply;
const { slice, indexOf, startsWith } = String.prototype;
const freeze = Object.freeze;
const keysOf = Object.keys;
const defineProperty = Object.defineProperty;
const setPrototypeOf = Object.setPrototypeOf;

interface Pending extends MadeCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** Where the program made the call: the error of a failed call points there. */
  readonly site: Error;
}

const pending: Record<number, Pending> = Object.create(null);
/**
 * Counts the calls that were sent. Arguments that cannot be sent, or that make calls themselves while they are serialized, leave
 * no gap.
 */
let lastNumber = 0;

const races = watchRaces(() => ({ call: lastNumber, timer: lastTimer() }));

type Callable = (...input: unknown[]) => unknown;

/** An async function of a virtual module. */
export function bindCall(name: string, target: string): Callable {
  const call = (...input: unknown[]) => {
    let made = 0;
    const promise = new NativePromise<unknown>((resolve, reject) => {
      const argumentsJson = jsonOf(input, name, target);
      const number = lastNumber + 1;
      host.call(number, target, argumentsJson);
      lastNumber = number;
      made = number;
      pending[number] = { name, resolve, reject, site: new NativeError() };
    });
    // A call that could not be made is an already rejected promise with its own error.
    return made === 0 ? promise : follow(promise, made, pending[made] as Pending);
  };
  return named(call, name);
}

/** A blocking function of a virtual module, for contracts whose calls are synchronous. */
export function bindCallSync(name: string, target: string): Callable {
  const call = (...input: unknown[]) => {
    const argumentsJson = jsonOf(input, name, target);
    const number = lastNumber + 1;
    const replyJson = host.callSync(number, target, argumentsJson);
    lastNumber = number;
    const reply = parse(replyJson) as { ok: boolean; value?: unknown; error?: GuestErrorData };
    if (reply.ok) return reply.value;
    throw createGuestError(reply.error as GuestErrorData);
  };
  return named(call, name);
}

/** Ends the import of a module that does not exist. */
export function throwError(json: string): never {
  throw createGuestError(parse(json) as GuestErrorData);
}

/** A blocking function of a script. It never throws: a failed call returns a value that the script checks. */
export function bindScriptCall(name: string): Callable {
  const answer = (input: unknown[]) => {
    let argumentsJson: string;
    try {
      const { json, loss } = write(input);
      if (loss !== undefined) return { ok: false, error: { message: lossAdvice(name, loss), code: 'INVALID_ARGS' } };
      argumentsJson = json;
    } catch (error) {
      return { ok: false, error: { message: unfitArguments(name, input, error), code: 'INVALID_ARGS' } };
    }
    const number = lastNumber + 1;
    const replyJson = host.callSync(number, name, argumentsJson);
    lastNumber = number;
    const reply = parse(replyJson) as { ok: boolean; value?: unknown; error?: GuestErrorData };
    if (reply.ok) return reply.value;
    return { ok: false, error: { message: (reply.error as GuestErrorData).message, code: 'CALL_FAILED' } };
  };
  return named((...input: unknown[]) => noteAnswer(answer(input)), name);
}

/** Passes an answer to the program. Answers to unknown calls, and second answers, are ignored. */
export function deliver(number: number, ok: boolean, value: unknown): void {
  const call = pending[number];
  if (call === undefined) return;
  delete pending[number];
  if (ok) call.resolve(value);
  else call.reject(createGuestError(value as GuestErrorData, call.site));
}

/** The stack with which an open call was made, in the engine's own format. */
export function siteOf(number: number): string {
  const call = pending[number];
  return call === undefined ? '' : rawStackOf(call.site);
}

/** The calls that the program made and does not await. */
export function unawaitedCalls(): string {
  const numbers = keysOf(pending);
  // Numeric keys are in ascending order.
  const newest = numbers.length === 0 ? 0 : +(numbers[numbers.length - 1] as string);
  return unawaitedIn(pending, races.areOver({ call: newest, timer: newestTimer() }));
}

/** A constant of a virtual module: plain, frozen data. */
export function bindValue(json: string): unknown {
  return deepFreeze(parse(json));
}

/**
 * Always a JSON array. The list has no prototype, so that a program's `Array.prototype.toJSON` cannot replace it. `f(undefined)`
 * is `f()`: JSON has no undefined, and `null` would be another input.
 */
function write(input: unknown[]): ReturnType<typeof writeInput> {
  let { length } = input;
  while (length > 0 && input[length - 1] === undefined) length--;
  input.length = length;
  return writeInput(setPrototypeOf(input, null));
}

function jsonOf(input: unknown[], name: string, target: string): string {
  let written: ReturnType<typeof writeInput>;
  try {
    written = write(input);
  } catch (error) {
    throw notJson(error) ? unfitInput(name, target, placeOf(input) ?? NOT_WRITTEN) : error;
  }
  const { json, loss } = written;
  if (loss !== undefined) throw unfitInput(name, target, loss);
  return json;
}

function lossMessage(name: string, { what, path }: Loss): string {
  return name + ' was not called: ' + what + (path === '' ? '' : ' at ' + path) + ' is not JSON';
}

/** Whether it is the engine's error for a BigInt or a circular value. A program's own `toJSON` may throw anything. */
function notJson(error: unknown): boolean {
  if (!(error instanceof NativeTypeError)) return false;
  const message: unknown = error.message;
  if (typeof message !== 'string') return false;
  for (let index = 0; index < NOT_JSON.length; index++)
    if (apply(startsWith, message, [NOT_JSON[index]]) as boolean) return true;
  return false;
}

/** The messages of QuickJS and of V8. */
const NOT_JSON = setPrototypeOf(
  ['circular reference', 'BigInt are', 'Converting circular structure', 'Do not know how to serialize a BigInt'],
  null,
) as readonly string[];

/** Used if a getter or a proxy hides the position. */
const NOT_WRITTEN: Loss = {
  what: 'a BigInt or a circular reference',
  path: '',
  hint: 'Pass plain data: objects, arrays, strings, finite numbers, booleans and null.',
};

function unfitInput(name: string, target: string, loss: Loss): Error {
  const { what, path, hint } = loss;
  return createGuestError({
    errorClass: 'SchemaValidationError',
    message: lossMessage(name, loss),
    hint,
    fields: {
      toolName: apply(slice, target, [apply(indexOf, target, ['/']) + 1]),
      exportName: name,
      path,
      expected: 'a JSON value',
      received: what,
    },
  });
}

function unfitArguments(name: string, input: readonly unknown[], error: unknown): string {
  if (notJson(error)) return lossAdvice(name, placeOf(input) ?? NOT_WRITTEN);
  return name + ' was not called: its arguments cannot be written as JSON (' + reasonOf(error) + ')';
}

function lossAdvice(name: string, loss: Loss): string {
  return lossMessage(name, loss) + '. ' + loss.hint;
}

/** The thrown value may be the program's own, with getters that throw again. */
function reasonOf(error: unknown): string {
  try {
    if (error instanceof NativeTypeError && notJson(error)) return error.message;
    if (error instanceof NativeRangeError) return 'they are nested too deeply';
    const { message } = error as { message?: unknown };
    if (typeof message === 'string') return message.length > 200 ? apply(slice, message, [0, 200]) : message;
  } catch {}
  return 'a getter or toJSON of a value threw';
}

function named(call: Callable, name: string): Callable {
  // No prototype: a `get` on a program's `Object.prototype` would make this an accessor.
  defineProperty(call, 'name', { __proto__: null, value: name } as PropertyDescriptor);
  return freeze(call);
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // By index: modules are loaded on first import, and the program may have patched the array iterator before that.
  const keys = keysOf(value);
  for (let index = 0; index < keys.length; index++)
    deepFreeze((value as Record<string, unknown>)[keys[index] as string]);
  return freeze(value);
}
