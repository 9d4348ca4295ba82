/**
 * JSON of a value, as by Python's `json.dumps(value, allow_nan=False)`: a value that JSON cannot express is an error, and never
 * silently becomes `null`, `{}` or nothing. Only `undefined` in an object is omitted, as everywhere in JavaScript, and an object
 * with `toJSON` defines its own form. Throws a TypeError that names the path.
 */
export function strictJson(value: unknown): string | undefined {
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, each: unknown) {
    const problem = problemOf(each, this[key]);
    if (problem === undefined) return each;
    throw new TypeError(
      key === ''
        ? `${problem} cannot be written as JSON`
        : `${problem} at ${JSON.stringify(key)} cannot be written as JSON`,
    );
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
