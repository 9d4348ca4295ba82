import { visibleText } from './visible-text.js';

/** Deeper than any schema that somebody wrote. */
export const MAX_SCHEMA_DEPTH = 100;
/** Keywords that hold words for a reader, and keywords that hold values. */
export const WORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment']);
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** A schema whose words have nothing in them that cannot be seen. Names and values stay: somebody answers with them. */
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
