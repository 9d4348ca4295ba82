// biome-ignore-all lint/style/useTemplate: a program can patch what template literals call, see primordials.ts.
import { kindOf } from './globals/object-kinds.js';
import { booleanValue, numberValue, objectKeys, quote, stringValue } from './globals/primordials.js';

/**
 * The value of a script as JSON, if it is data: strings, numbers, booleans, null, arrays and objects of them. Values that JSON
 * would lose silently are refused, at any depth: functions, dates, maps, bigints, cycles and so on. As in JSON, `undefined` is
 * omitted from objects and is null in arrays, NaN and the infinities are null, symbols are not keys. `toJSON` is never called: its
 * answer is not the value itself.
 *
 * The value is copied while it is checked, and the copy is written: a getter or a proxy that would return something else the
 * second time is read once. The copy has no prototypes, so nothing that the script has patched affects it.
 */
const { create, setPrototypeOf } = Object;
const stringify = JSON.stringify;

/** Objects around a value, innermost first, each with the key under which it holds the next. One entry per object. */
interface Within {
  readonly holder: object;
  key: string | number;
  readonly parent: Within | undefined;
}

export function jsonOfValue(value: unknown): string {
  if (value === undefined)
    throw new TypeError('the script has no value: its last expression, or what it returns, is undefined');
  return stringify(copyOf(value, undefined));
}

function copyOf(value: unknown, within: Within | undefined): unknown {
  const type = typeof value;
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'undefined') return value;
  if (type !== 'object') throw refused('a ' + type, within);
  return value === null ? null : copyOfObject(value as object, within);
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

function copyOfArray(value: unknown[], parent: Within | undefined): unknown[] {
  forbidCycle(value, parent);
  const copy = setPrototypeOf([], null) as unknown[];
  const within: Within = { holder: value, key: 0, parent };
  const { length } = value;
  for (let index = 0; index < length; index++) {
    const item = value[index];
    if (typeof item === 'string' || typeof item === 'number') {
      copy[index] = item;
      continue;
    }
    within.key = index;
    copy[index] = copyOf(item, within) ?? null;
  }
  return copy;
}

function copyOfRecord(value: Record<string, unknown>, parent: Within | undefined): object {
  forbidCycle(value, parent);
  const copy = create(null) as Record<string, unknown>;
  const within: Within = { holder: value, key: '', parent };
  const keys = objectKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const item = value[key];
    // The most frequent types, without a call for each: saves a third of the time.
    if (typeof item === 'string' || typeof item === 'number') {
      copy[key] = item;
      continue;
    }
    within.key = key;
    const copied = copyOf(item, within);
    if (copied !== undefined) copy[key] = copied;
  }
  return copy;
}

function forbidCycle(value: object, within: Within | undefined): void {
  for (let each = within; each !== undefined; each = each.parent)
    if (each.holder === value) throw refused('a reference to something that contains it', within);
}

/** Readable names for kinds that people would not understand. */
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
