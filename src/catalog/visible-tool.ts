import type { JsonObject, JsonValue } from '../domain/json.js';
import type { Tool } from '../domain/tool.js';
import { ifDefined, omitUndefined } from '../lib/omit-undefined.js';
import { MAX_SCHEMA_DEPTH, WORDS, withVisibleWords } from '../lib/text/visible-schema.js';
import { visibleLine, visibleSentence, visibleText } from '../lib/text/visible-text.js';

/**
 * A tool as the catalog keeps it: its descriptions have no invisible characters. Names and values stay unchanged, because calls use
 * them; any code that shows them escapes them.
 */
export function visibleTool(tool: Tool): Tool {
  const { title, description, inputSchema, outputSchema, annotations, tags } = tool;
  return {
    ...tool,
    ...omitUndefined({
      title: ifDefined(title, visibleSentence),
      description: ifDefined(description, visibleText),
      inputSchema: ifDefined(inputSchema, withVisibleWords),
      outputSchema: ifDefined(outputSchema, withVisibleWords),
      annotations: ifDefined(annotations?.title, (title) => ({ ...annotations, title: visibleSentence(title) })),
      tags: tags?.map(visibleSentence),
    }),
  };
}

/**
 * A tool's schema for a reader, person or model: descriptions on one line, and every character of every name and value visible. An
 * invisible value cannot be chosen either.
 */
export function shownSchema(schema: JsonObject): JsonObject {
  return shown(schema, 0) as JsonObject;
}

/** A tool's description for a reader. */
export function shownDescription(description: string): string {
  return visibleSentence(description);
}

function shown(value: JsonValue, depth: number): JsonValue {
  if (typeof value === 'string') return visibleLine(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth > MAX_SCHEMA_DEPTH) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) return value.map((each) => shown(each, depth + 1));
  return mapped(value, (key, part) => [
    visibleLine(key),
    typeof part === 'string' && WORDS.has(key) ? visibleSentence(part) : shown(part, depth + 1),
  ]);
}

/** `__proto__` is treated like any other key. */
function mapped(value: JsonObject, each: (key: string, part: JsonValue) => [string, JsonValue]): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, part]) => each(key, part as JsonValue)));
}
