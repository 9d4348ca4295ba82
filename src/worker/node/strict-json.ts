/**
 * JSON of a value, as Python's `json.dumps(value, allow_nan=False)` has it: what JSON cannot say is an error, and never
 * becomes `null`, `{}` or nothing in silence. Only `undefined` in an object is left out, as everywhere in JavaScript.
 * Throws a TypeError that names the place.
 */
export function strictJson(value: unknown): string | undefined {
  return JSON.stringify(value, (key, each: unknown) => {
    const problem = problemOf(each);
    if (problem === undefined) return each;
    throw new TypeError(key === '' ? `${problem} has no JSON` : `${problem} at ${JSON.stringify(key)} has no JSON`);
  });
}

function problemOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return `a ${typeof value}`;
  if (value instanceof Promise) return 'a Promise';
  if (value instanceof Map) return 'a Map';
  return value instanceof Set ? 'a Set' : undefined;
}
