import type { JsonValue } from '../domain/json.js';

/** Parsing a larger value costs more than its shape is worth: it blocks everybody. */
const MAX_PARSED_CHARACTERS = 4_000_000;
const MAX_KEYS = 12;
const MAX_CHARACTERS = 300;

/** A short description of a large value: `3000 rows of { id: number, name: string }`. */
export function shapeOf(json: string): string | undefined {
  if (json.length > MAX_PARSED_CHARACTERS) return undefined;
  return describe(JSON.parse(json) as JsonValue, 2).slice(0, MAX_CHARACTERS);
}

function describe(value: JsonValue, depth: number): string {
  if (Array.isArray(value)) {
    const [first] = value;
    const of = first === undefined || depth === 0 ? '' : ` of ${describe(first, depth - 1)}`;
    return `${value.length} ${value.length === 1 ? 'row' : 'rows'}${of}`;
  }
  if (typeof value === 'string') return value.length > 100 ? `text of ${value.length} characters` : 'string';
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  if (depth === 0) return 'object';
  const keys = Object.keys(value);
  const shown = keys
    .slice(0, MAX_KEYS)
    .map((key) => `${plainKey(key)}: ${describe(value[key] as JsonValue, depth - 1)}`);
  return `{ ${[...shown, ...(keys.length > MAX_KEYS ? ['…'] : [])].join(', ')} }`;
}

function plainKey(key: string): string {
  return /^[A-Za-z_$][\w$]{0,39}$/.test(key) ? key : JSON.stringify(key.slice(0, 40));
}
