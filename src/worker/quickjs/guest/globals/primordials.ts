// Built-in functions, saved when the image was built. A program may patch any prototype; code that uses these keeps working.
// Iteration, spreading and array methods are patchable too, so users of this file loop by index. So are template literals: this
// engine compiles them to calls of String.prototype.concat. Users of this file concatenate with +.

const { bind, call } = Function.prototype;

/** `uncurryThis(f)(object, ...args)` is `f.call(object, ...args)`, without ever looking up `call` again. */
const uncurryThis = bind.bind(call) as <This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
) => (self: This, ...args: Args) => Result;

type Getter<This, Result> = (this: This) => Result;
const getterOf = <This, Result>(prototype: object, name: PropertyKey) =>
  uncurryThis(Object.getOwnPropertyDescriptor(prototype, name)?.get as Getter<This, Result>);

export const apply = Reflect.apply;
export const getOwnPropertyDescriptor = Reflect.getOwnPropertyDescriptor;
export const objectKeys = Object.keys;
export const quote = JSON.stringify as (text: string) => string;
export const toText = String;
export const isFiniteNumber = Number.isFinite;
export const currentTimeMs = Date.now;
export const smallerOf = Math.min;

export const sortInPlace = uncurryThis(Array.prototype.sort as (this: string[]) => string[]);
export const slice = uncurryThis(String.prototype.slice);
export const indexOf = uncurryThis(String.prototype.indexOf);
export const charCodeAt = uncurryThis(String.prototype.charCodeAt);
export const repeat = uncurryThis(String.prototype.repeat);
export const toWellFormed = uncurryThis(
  (String.prototype as unknown as { toWellFormed(this: string): string }).toWellFormed,
);

export const objectToString = uncurryThis(Object.prototype.toString);
export const regExpToString = uncurryThis(RegExp.prototype.toString);
export const numberValue = uncurryThis(Number.prototype.valueOf as (this: object) => number);
export const stringValue = uncurryThis(String.prototype.valueOf as (this: object) => string);
export const booleanValue = uncurryThis(Boolean.prototype.valueOf as (this: object) => boolean);
export const bigIntValue = uncurryThis(BigInt.prototype.valueOf as (this: object) => bigint);
export const symbolValue = uncurryThis(Symbol.prototype.valueOf as (this: object) => symbol);

export const mapEntries = uncurryThis(Map.prototype.entries);
export const mapNext = nextOf<[unknown, unknown]>(new Map().entries());
export const setValues = uncurryThis(Set.prototype.values);
export const setNext = nextOf<unknown>(new Set().values());

const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype) as object;
/** Undefined for a DataView. */
export const typedArrayName = getterOf<ArrayBufferView, string | undefined>(typedArrayPrototype, Symbol.toStringTag);
export const typedArrayLength = getterOf<ArrayBufferView, number>(typedArrayPrototype, 'length');
export const dataViewBytes = getterOf<ArrayBufferView, number>(DataView.prototype, 'byteLength');
export const bufferBytes = getterOf<object, number>(ArrayBuffer.prototype, 'byteLength');
export const sharedBufferBytes = getterOf<object, number>(SharedArrayBuffer.prototype, 'byteLength');

function nextOf<Item>(iterator: object): (iterator: Iterator<unknown>) => IteratorResult<Item, undefined> {
  const prototype = Object.getPrototypeOf(iterator) as { next(): IteratorResult<Item, undefined> };
  return uncurryThis(prototype.next as (this: Iterator<unknown>) => IteratorResult<Item, undefined>);
}
