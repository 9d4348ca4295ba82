/**
 * JSON as Python's `json.dumps(value, separators=(",", ":"), sort_keys=True)` writes it: keys ordered by code point, non-ASCII
 * characters escaped, small fractions with a two-digit exponent.
 */
export function asciiJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asciiJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).sort(([left], [right]) => compareCodePoints(left, right));
    return `{${entries.map(([key, each]) => `${escaped(key)}:${asciiJson(each)}`).join(',')}}`;
  }
  if (typeof value === 'string') return escaped(value);
  return typeof value === 'number' ? numeral(value) : JSON.stringify(value);
}

function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Below this, Python writes an exponent. */
const SMALL = 1e-4;

function numeral(value: number): string {
  if (value === 0 || Math.abs(value) >= SMALL) return JSON.stringify(value);
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1');
}

/** Unlike `<`, which compares UTF-16 units, this does not put an emoji before U+FF21. */
function compareCodePoints(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index]?.codePointAt(0) as number) - (b[index]?.codePointAt(0) as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
