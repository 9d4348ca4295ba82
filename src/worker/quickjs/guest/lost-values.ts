// biome-ignore-all lint/style/useTemplate: a program can patch what template literals call, see primordials.ts.
import { kindOf } from './globals/object-kinds.js';
import { isFiniteNumber, objectKeys, toText } from './globals/primordials.js';

/**
 * Values in a result that JSON cannot express, with their paths: `NaN at /price`. The result is written by `JSON.stringify`, where
 * these are null, `{}` or missing. Checks at most as many values as fit into an answer.
 */
const stringify = JSON.stringify;
const create = Object.create as (prototype: null) => Record<string, unknown>;
const setPrototypeOf = Object.setPrototypeOf as <Value>(value: Value, prototype: null) => Value;
const { replaceAll, slice } = String.prototype;
const apply = Reflect.apply;
const { isPrototypeOf } = Object.prototype;
const { getTime } = Date.prototype;
const promisePrototype = Promise.prototype;

const MAX_VISITED = 100_000;
const MAX_DEPTH = 200;
const MAX_PLACES = 3;
const MAX_PATH_CHARACTERS = 200;

interface Search {
  visited: number;
  count: number;
  /** Values that are null or empty in the JSON, and values that are omitted. Programs intend the latter more often. */
  readonly changed: string[];
  readonly missing: string[];
  /** Paths of promises: nearly always an `await` is missing. */
  promiseCount: number;
  readonly promises: string[];
}

/** JSON of `{count, places, promises?}`, or an empty text if nothing is lost. Reads getters again, and tolerates whatever they do. */
export function lostInResult(): string {
  return lostInValue((globalThis as { __codemode_result__?: unknown }).__codemode_result__);
}

/** The same for the value of a script. */
export function lostInValue(value: unknown): string {
  const search: Search = {
    visited: 0,
    count: 0,
    changed: setPrototypeOf([], null),
    missing: setPrototypeOf([], null),
    promiseCount: 0,
    promises: setPrototypeOf([], null),
  };
  try {
    findLost(value, '', 0, search);
  } catch {
    // A getter threw the second time: the findings so far are reported.
  }
  if (search.count === 0 && search.promiseCount === 0) return '';
  const places: string[] = setPrototypeOf([], null);
  for (let index = 0; index < search.changed.length; index++) places[places.length] = search.changed[index] as string;
  for (let index = 0; index < search.missing.length && places.length < MAX_PLACES; index++)
    places[places.length] = search.missing[index] as string;
  const found = create(null);
  found['count'] = search.count;
  found['places'] = places;
  if (search.promiseCount > 0) {
    const promises = create(null);
    promises['count'] = search.promiseCount;
    promises['places'] = search.promises;
    found['promises'] = promises;
  }
  return stringify(found);
}

function findLost(value: unknown, path: string, depth: number, search: Search): void {
  if (++search.visited > MAX_VISITED || depth > MAX_DEPTH) return;
  switch (typeof value) {
    case 'number':
      if (!isFiniteNumber(value)) note(toText(value), path, search);
      return;
    case 'undefined':
      if (path !== '') note('undefined', path, search);
      return;
    case 'function':
    case 'symbol':
      note('a ' + typeof value, path, search);
      return;
    case 'object':
      if (value !== null) lookInto(value as Record<string, unknown>, path, depth, search);
      return;
    case 'string':
    case 'boolean':
    case 'bigint': // refused before this search runs
      return;
  }
}

function lookInto(value: Record<string, unknown>, path: string, depth: number, search: Search): void {
  const kind = kindOf(value);
  if (kind === 'Date' && !isFiniteNumber(apply(getTime, value as unknown as Date, [])))
    return note('an invalid Date', path, search);
  // Dates, URLs and other objects that define their own JSON form.
  if (typeof value['toJSON'] === 'function') return;
  if (kind === 'Opaque' && apply(isPrototypeOf, promisePrototype, [value]) === true) {
    search.promiseCount++;
    if (search.promises.length < MAX_PLACES)
      search.promises[search.promises.length] = apply(slice, path, [0, MAX_PATH_CHARACTERS]);
    return;
  }
  if (kind === 'Array') {
    const { length } = value as unknown as unknown[];
    for (let index = 0; index < length && search.visited <= MAX_VISITED; index++) {
      const item = value[index];
      // In a list it becomes null; in an object it is omitted, which most programs intend.
      if (item === undefined) note('an undefined item', path + '/' + index, search);
      else findLost(item, path + '/' + index, depth + 1, search);
    }
    return;
  }
  const name = EMPTY_IN_JSON[kind];
  if (name !== undefined) note(name, path, search);
  if (kind !== 'Object') return;
  const keys = objectKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    findLost(value[key], path + '/' + escaped(key), depth + 1, search);
  }
}

const EMPTY_IN_JSON: { readonly [kind: string]: string | undefined } = setPrototypeOf(
  {
    Map: 'a Map',
    Set: 'a Set',
    RegExp: 'a RegExp',
    Error: 'an Error',
    ArrayBuffer: 'an ArrayBuffer',
    Opaque: 'an iterator or a weak collection',
  },
  null,
);

function note(what: string, path: string, search: Search): void {
  search.count++;
  const list = what === 'undefined' ? search.missing : search.changed;
  if (list.length === MAX_PLACES) return;
  const shown = apply(slice, path, [0, MAX_PATH_CHARACTERS]);
  list[list.length] = what + (path === '' ? '' : ' at ' + shown);
}

/** A key in the notation of JSON Pointers. */
function escaped(key: string): string {
  return apply(replaceAll, apply(replaceAll, key, ['~', '~0']), ['/', '~1']);
}
