import type { JsonObject, JsonValue } from '../../domain/json.js';

const ANNOTATION = 'x-mcp-header';

/**
 * A schema without the annotation that asks for arguments as HTTP headers. It concerns the upstream and its proxy: we send
 * the headers when we make the call. A server that lists the annotation must also compare those headers with the arguments
 * of every call, and our connection does not use them.
 */
export function withoutHeaderAnnotations(schema: JsonObject): JsonObject {
  const text = JSON.stringify(schema);
  if (!text.includes(`"${ANNOTATION}"`)) return schema;
  const copy = JSON.parse(text) as JsonObject;
  // A work list instead of recursion: foreign schemas may be deeper than our stack.
  const waiting: JsonValue[] = [copy];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node === null || typeof node !== 'object') continue;
    // An argument with this name has a schema as its value, not a string.
    if (!Array.isArray(node) && typeof node[ANNOTATION] === 'string')
      delete (node as Record<string, JsonValue>)[ANNOTATION];
    for (const child of Object.values(node)) waiting.push(child);
  }
  return copy;
}
