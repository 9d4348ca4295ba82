/**
 * JSON of a value, as by Python's `json.dumps(value, allow_nan=False)`: a value that JSON cannot express is an error, and never
 * silently becomes `null`, `{}` or nothing. Only `undefined` in an object is omitted, as everywhere in JavaScript, and an object
 * with `toJSON` defines its own form. Throws a TypeError that names the path.
 */
export function strictJson(value: unknown): string | undefined {
  // Of what is being written: its members are visited before the next object, so a place that is shared is the current one.
  const places = new Map<unknown, string>();
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, each: unknown) {
    // The holder of the whole value has no place of its own.
    const holder = places.get(this);
    const place = holder === undefined ? '' : `${holder}/${key}`;
    const problem = problemOf(each, this[key]);
    if (problem !== undefined)
      throw new TypeError(`${place === '' ? problem : `${problem} at ${place}`} cannot be written as JSON`);
    if (typeof each === 'object' && each !== null) places.set(each, place);
    return each;
  });
}

/** `original`: the value before its `toJSON` was called. */
function problemOf(value: unknown, original: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return `a ${typeof value}`;
  if (original instanceof Date && Number.isNaN(original.getTime())) return 'an invalid Date';
  if (typeof value !== 'object' || value === null) return undefined;
  return (
    EMPTY_IN_JSON.find(([type]) => value instanceof type)?.[1] ??
    (ArrayBuffer.isView(value) ? 'a typed array' : undefined)
  );
}

const EMPTY_IN_JSON = [
  [Promise, 'a Promise'],
  [Map, 'a Map'],
  [Set, 'a Set'],
  [RegExp, 'a RegExp'],
  [Error, 'an Error'],
  [ArrayBuffer, 'an ArrayBuffer'],
] as const;
