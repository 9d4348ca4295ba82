import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';

/** Deeper than any real data, and shallow enough not to overflow the stack. */
const MAX_DEPTH = 500;

/**
 * A copy of a value from the embedding program, as JSON data. As in `JSON.stringify`, `toJSON` is called and undefined members
 * are omitted. Values that JSON would change or lose are refused. Throws `bad_input` with their position.
 */
export function plainJson(value: unknown, place: string): JsonValue {
  return copy(value, place, []);
}

function copy(given: unknown, place: string, around: readonly object[]): JsonValue {
  if (given instanceof Date && Number.isNaN(given.getTime())) throw refused(place, 'is an invalid Date');
  const value = isDated(given) ? given.toJSON() : given;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw refused(place, `is ${value}`);
    case 'object':
      if (value === null) return null;
      if (around.includes(value)) throw refused(place, 'contains itself');
      if (around.length >= MAX_DEPTH) throw refused(place, 'is nested too deeply');
      return copyObject(value, place, [...around, value]);
    default:
      throw refused(place, value === undefined ? 'is undefined' : `is a ${typeof value}`);
  }
}

function copyObject(value: object, place: string, around: readonly object[]): JsonValue {
  if (Array.isArray(value)) return value.map((item, index) => copy(item, `${place}[${index}]`, around));
  const prototype = Object.getPrototypeOf(value) as unknown;
  // JSON would turn these into {}.
  if (EMPTY_IN_JSON.some((type) => value instanceof type) || ArrayBuffer.isView(value))
    throw refused(place, `is a ${(prototype as { constructor: { name: string } }).constructor.name}`);
  const copied: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const json = copy(member, `${place}.${name}`, around);
    // Always an own property, even if it is called `__proto__`.
    Object.defineProperty(copied, name, { value: json, enumerable: true, writable: true, configurable: true });
  }
  return copied;
}

const EMPTY_IN_JSON = [Map, Set, RegExp, Error, Promise, ArrayBuffer];

function isDated(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

function refused(place: string, what: string): HostError {
  return new HostError('bad_input', `${place} ${what}, which JSON cannot hold; pass plain data`);
}
