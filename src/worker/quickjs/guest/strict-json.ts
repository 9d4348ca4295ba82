// biome-ignore-all lint/style/useTemplate: a program can patch what template literals call, see primordials.ts.
import { kindOf } from './globals/object-kinds.js';
import { booleanValue, numberValue, objectKeys, quote, stringValue } from './globals/primordials.js';

/**
 * The value of a script as JSON, if it is data: strings, numbers, booleans, null, arrays and objects of them. What JSON
 * would lose without a word is refused, at any depth: functions, dates, maps, bigints, cycles and so on. As in JSON,
 * `undefined` is left out of objects and is null in arrays, NaN and the infinities are null, symbols are no keys.
 * `toJSON` is never called: what a value says of itself is not what it is.
 *
 * The value is copied as it is checked and the copy is written: a getter or a proxy that gives something else the second
 * time is asked once. The copy has no prototypes, so nothing that the script has patched has a say in it.
 */
const { create, setPrototypeOf } = Object;
const stringify = JSON.stringify;

/** Objects around a value, innermost first, with the key under which each one holds the next. */
interface Within {
  readonly holder: object;
  readonly key: string | number;
  readonly parent: Within | undefined;
}

export function jsonOfValue(value: unknown): string {
  if (value === undefined)
    throw new TypeError('the script has no value: its last expression, or what it returns, is undefined');
  return stringify(copyOf(value, undefined));
}

function copyOf(value: unknown, within: Within | undefined): unknown {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    case 'object':
      return value === null ? null : copyOfObject(value, within);
    default:
      throw refused('a ' + typeof value, within);
  }
}

function copyOfObject(value: object, within: Within | undefined): unknown {
  const kind = kindOf(value);
  switch (kind) {
    case 'Array':
      return copyOfArray(value as unknown[], within);
    case 'Object':
      return copyOfRecord(value as Record<string, unknown>, within);
    case 'Number':
      return numberValue(value);
    case 'String':
      return stringValue(value);
    case 'Boolean':
      return booleanValue(value);
    default:
      throw refused(NAMES[kind] ?? 'a ' + kind, within);
  }
}

function copyOfArray(value: unknown[], within: Within | undefined): unknown[] {
  forbidCycle(value, within);
  const copy = setPrototypeOf([], null) as unknown[];
  const { length } = value;
  for (let index = 0; index < length; index++) {
    const item = copyOf(value[index], { holder: value, key: index, parent: within });
    copy[index] = item === undefined ? null : item;
  }
  return copy;
}

function copyOfRecord(value: Record<string, unknown>, within: Within | undefined): object {
  forbidCycle(value, within);
  const copy = create(null) as Record<string, unknown>;
  const keys = objectKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const item = copyOf(value[key], { holder: value, key, parent: within });
    if (item !== undefined) copy[key] = item;
  }
  return copy;
}

function forbidCycle(value: object, within: Within | undefined): void {
  for (let each = within; each !== undefined; each = each.parent)
    if (each.holder === value) throw refused('a reference to something that contains it', within);
}

/** Where the kind alone is no word for people. */
const NAMES: { readonly [kind: string]: string | undefined } = setPrototypeOf(
  {
    Opaque: 'a promise, an iterator or a weak collection',
    ArrayBufferView: 'a typed array',
    ArrayBuffer: 'an ArrayBuffer',
    Error: 'an Error',
  },
  null,
);

function refused(what: string, within: Within | undefined): TypeError {
  return new TypeError(what + (within === undefined ? '' : ' at ' + pathOf(within)) + ' is not JSON');
}

const MAX_PATH_CHARACTERS = 200;

function pathOf(within: Within): string {
  let path = '';
  for (let each: Within | undefined = within; each !== undefined; each = each.parent) {
    path = '[' + (typeof each.key === 'number' ? each.key : quote(each.key)) + ']' + path;
    if (path.length > MAX_PATH_CHARACTERS) return '...' + path;
  }
  return 'value' + path;
}
