// biome-ignore-all lint/style/useTemplate: a program can patch what template literals call, see primordials.ts.
import { kindOf } from './globals/object-kinds.js';
import { apply, getOwnPropertyDescriptor, isFiniteNumber, objectKeys, toText } from './globals/primordials.js';

/**
 * The first value in the arguments of a call that JSON would change: NaN becomes null, a Map becomes {}, a function disappears. A
 * tool must not act on data that the program did not write. `undefined` in an object is omitted, as everywhere in JavaScript, and
 * an object with `toJSON` (dates, URLs) defines its own form.
 */
export interface Loss {
  /** `a Map`, `NaN`. */
  readonly what: string;
  /** JSON Pointer within its argument; empty for the argument itself. */
  readonly path: string;
  /** What to pass instead. */
  readonly hint: string;
}

const stringify = JSON.stringify as (
  value: unknown,
  replacer: (this: object, key: string, value: unknown) => unknown,
) => string;
const setPrototypeOf = Object.setPrototypeOf as <Value>(value: Value, prototype: null) => Value;
const { replaceAll, slice } = String.prototype;
const { isPrototypeOf } = Object.prototype;
const { getTime } = Date.prototype;
const promisePrototype = Promise.prototype;

/** Deeper than any data. JSON may be nested further, but is not checked there. */
const MAX_DEPTH = 200;
const MAX_PATH_CHARACTERS = 200;

/** The keys that lead to a value, one entry per object. Paths are built only if something was found. */
interface Within {
  key: string | number;
  readonly object: object;
  readonly depth: number;
  readonly parent: Within | undefined;
}

/**
 * The arguments as JSON, and the first loss. Every value is read once: getters and proxies are the program's own, and their
 * effects happen once. Throws the errors of `JSON.stringify`.
 */
export function writeInput(input: readonly unknown[]): { readonly json: string; readonly loss: Loss | undefined } {
  let found: Loss | undefined;
  const json = stringify(input, function (this: object, key: string, value: unknown) {
    found ??= lossHere(value, this, key);
    return value;
  });
  return { json, loss: found === undefined ? undefined : (placeOf(input) ?? found) };
}

/** Checks one value without its contents. */
function lossHere(value: unknown, holder: object, key: string): Loss | undefined {
  switch (typeof value) {
    case 'number':
    case 'function':
    case 'symbol':
      return lossOf(value, undefined);
    case 'object': {
      // A value that `toJSON` turned into null may have been an invalid date.
      const original: unknown = value ?? getOwnPropertyDescriptor(holder, key)?.value;
      return typeof original === 'object' && original !== null ? lossByKind(original, undefined) : undefined;
    }
    case 'string':
    case 'boolean':
    case 'undefined':
    case 'bigint':
      return undefined;
  }
}

/** The same with its path, for the message. A loss is certain here, so values may be read a second time. */
export function placeOf(input: readonly unknown[]): Loss | undefined {
  try {
    for (let index = 0; index < input.length; index++) {
      const found = lossOf(input[index], undefined);
      if (found !== undefined) return found;
    }
  } catch {
    // A getter or a proxy threw the second time.
  }
  return undefined;
}

function lossOf(value: unknown, within: Within | undefined): Loss | undefined {
  switch (typeof value) {
    case 'number':
      return isFiniteNumber(value) ? undefined : loss(toText(value), 'number', within);
    case 'function':
    case 'symbol':
      return loss('a ' + typeof value, 'code', within);
    case 'object':
      return value === null ? undefined : lossInObject(value as Record<string, unknown>, within);
    case 'bigint':
      return typeof (value as { toJSON?: unknown }).toJSON === 'function'
        ? undefined
        : loss('a BigInt', 'bigint', within);
    case 'string':
    case 'boolean':
    case 'undefined':
      return undefined;
  }
}

function lossInObject(value: Record<string, unknown>, parent: Within | undefined): Loss | undefined {
  const depth = parent === undefined ? 1 : parent.depth + 1;
  if (depth > MAX_DEPTH) return undefined;
  const found = lossByKind(value, parent);
  if (found !== undefined) return found;
  if (typeof value['toJSON'] === 'function') return undefined;
  for (let each = parent; each !== undefined; each = each.parent)
    if (each.object === value) return loss('a circular reference', 'circle', parent);
  const kind = kindOf(value);
  const within: Within = { key: '', object: value, depth, parent };
  if (kind === 'Array') {
    const { length } = value as unknown as unknown[];
    for (let index = 0; index < length; index++) {
      const item = value[index];
      within.key = index;
      const found = lossOf(item, within);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (kind !== 'Object') return undefined;
  const keys = objectKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const item = value[key];
    if (typeof item === 'string') continue;
    within.key = key;
    const found = lossOf(item, within);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Checks the kind of an object, whatever its contents. The `toJSON` of an object was called before. */
function lossByKind(value: object, within: Within | undefined): Loss | undefined {
  const kind = kindOf(value);
  if (kind === 'Date')
    return isFiniteNumber(apply(getTime, value as Date, [])) ? undefined : loss('an invalid Date', 'date', within);
  const name = NAMES[kind];
  if (name === undefined || typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
  if (kind === 'Opaque' && apply(isPrototypeOf, promisePrototype, [value]) === true)
    return loss('a Promise', 'promise', within);
  return loss(name, kind, within);
}

const NAMES: { readonly [kind: string]: string | undefined } = setPrototypeOf(
  {
    Map: 'a Map',
    Set: 'a Set',
    RegExp: 'a RegExp',
    Error: 'an Error',
    ArrayBuffer: 'an ArrayBuffer',
    SharedArrayBuffer: 'an ArrayBuffer',
    ArrayBufferView: 'a typed array',
    Opaque: 'an iterator or a weak collection',
  },
  null,
);

const HINTS: { readonly [kind: string]: string | undefined } = setPrototypeOf(
  {
    number: 'Pass a finite number.',
    code: 'Leave it out.',
    date: 'Pass a valid date.',
    promise: 'Write await before it.',
    bigint: 'Pass String(value).',
    circle: 'Leave it out.',
    Map: 'Pass Object.fromEntries(map).',
    Set: 'Pass [...set].',
    RegExp: 'Pass its source as a string.',
    Error: 'Pass its message as a string.',
    ArrayBufferView: 'Pass Array.from(bytes).',
  },
  null,
);
const PLAIN_DATA = 'Pass plain data: objects, arrays, strings, finite numbers, booleans and null.';

function loss(what: string, kind: string, within: Within | undefined): Loss {
  return { what, path: pathOf(within), hint: HINTS[kind] ?? PLAIN_DATA };
}

function pathOf(within: Within | undefined): string {
  let path = '';
  for (let each = within; each !== undefined; each = each.parent) path = '/' + escaped(toText(each.key)) + path;
  return apply(slice, path, [0, MAX_PATH_CHARACTERS]);
}

/** A key in the notation of JSON Pointers. */
function escaped(key: string): string {
  return apply(replaceAll, apply(replaceAll, key, ['~', '~0']), ['/', '~1']);
}
