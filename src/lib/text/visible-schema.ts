import { visibleText } from './visible-text.js';

/** Deeper than any schema that a person wrote. */
export const MAX_SCHEMA_DEPTH = 100;
/** Keywords whose values are text for a reader, and keywords whose values are data. */
export const WORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment']);
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** A schema whose descriptions have no invisible characters. Names and values stay, because callers send them back. */
export function withVisibleWords<Schema extends object>(schema: Schema, show = visibleText): Schema {
  return read(schema, show, 0) as Schema;
}

function read(value: unknown, show: (text: string) => string, depth: number): unknown {
  if (depth > MAX_SCHEMA_DEPTH || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((each) => read(each, show, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]): [string, unknown] => {
      if (typeof part === 'string') return [key, WORDS.has(key) ? show(part) : part];
      if (key === 'enumNames' && Array.isArray(part))
        return [key, part.map((name) => (typeof name === 'string' ? show(name) : name))];
      return [key, VALUES.has(key) ? part : read(part, show, depth + 1)];
    }),
  );
}
