import type { JsonObject, JsonValue } from '../domain/json.js';
import type { Tool } from '../domain/tool.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { MAX_SCHEMA_DEPTH, WORDS, withVisibleWords } from '../lib/text/visible-schema.js';
import { visibleLine, visibleSentence, visibleText } from '../lib/text/visible-text.js';

/**
 * A tool as the catalog keeps it: its words have nothing in them that cannot be seen. Names and values stay as they are,
 * because calls are made with them; whatever shows them escapes them.
 */
export function visibleTool(tool: Tool): Tool {
  const { title, description, inputSchema, outputSchema, annotations, tags } = tool;
  return {
    ...tool,
    ...(title === undefined ? {} : { title: visibleSentence(title) }),
    ...(description === undefined ? {} : { description: visibleText(description) }),
    ...(inputSchema === undefined ? {} : { inputSchema: withVisibleWords(inputSchema) }),
    ...(outputSchema === undefined ? {} : { outputSchema: withVisibleWords(outputSchema) }),
    ...(annotations?.title === undefined
      ? {}
      : { annotations: { ...annotations, title: visibleSentence(annotations.title) } }),
    ...omitUndefined({ tags: tags?.map(visibleSentence) }),
  };
}

/**
 * A tool's schema as a reader gets it, person or model: words on one line, and every character of every name and value to
 * be seen. A value that cannot be seen cannot be chosen either.
 */
export function shownSchema(schema: JsonObject): JsonObject {
  return shown(schema, 0) as JsonObject;
}

/** A tool's description as a reader gets it. */
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

/** `__proto__` is a key like any other. */
function mapped(value: JsonObject, each: (key: string, part: JsonValue) => [string, JsonValue]): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, part]) => each(key, part as JsonValue)));
}
