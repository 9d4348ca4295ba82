import type { JsonObject, JsonValue } from '../../../domain/json.js';
import { oneLine } from '../../../lib/text/bounded-text.js';

const ANNOTATION = 'x-mcp-header';
/** A header name by RFC 9110: no character that could end the line or begin another header. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
/** Keywords whose values are data, in which the annotation has no meaning. */
const DATA_KEYWORDS = ['const', 'enum', 'default', 'examples'];
const MAX_QUOTED_CHARACTERS = 80;

interface Place {
  readonly node: JsonValue;
  readonly at: 'root' | 'argument' | 'elsewhere';
}

/**
 * What is wrong with the arguments that a tool wants mirrored as HTTP headers (`x-mcp-header`), if anything. In the 2026-07-28 era
 * a client over HTTP must not use such a tool: its calls could not be sent as it asks.
 */
export function parameterHeaderFault(inputSchema: JsonObject): string | undefined {
  const names = new Set<string>();
  // Iterative, not recursive: untrusted schemas may be deeper than our stack.
  const waiting: Place[] = [{ node: inputSchema, at: 'root' }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { node, at } = place;
    if (node === null || typeof node !== 'object') continue;
    const fault = Array.isArray(node) ? undefined : annotationFault(node as JsonObject, at, names);
    if (fault !== undefined) return fault;
    for (const [key, child] of Object.entries(node)) {
      if (DATA_KEYWORDS.includes(key)) continue;
      if (key === 'properties' && child !== null && typeof child === 'object') {
        const reached = at === 'elsewhere' ? at : 'argument';
        for (const property of Object.values(child)) waiting.push({ node: property, at: reached });
      } else waiting.push({ node: child, at: 'elsewhere' });
    }
  }
  return undefined;
}

function annotationFault(schema: JsonObject, at: Place['at'], names: Set<string>): string | undefined {
  const header = Object.hasOwn(schema, ANNOTATION) ? schema[ANNOTATION] : undefined;
  if (header === undefined) return undefined;
  const quoted = oneLine(JSON.stringify(header), MAX_QUOTED_CHARACTERS);
  if (at !== 'argument') return `${ANNOTATION} ${quoted} is outside the properties of an object`;
  if (typeof header !== 'string' || !HEADER_NAME.test(header))
    return `${ANNOTATION} ${quoted} is not the name of a header`;
  if (!HEADER_TYPES.includes(schema.type)) return `${ANNOTATION} ${quoted} is on no string, integer or boolean`;
  if (names.has(header.toLowerCase())) return `${ANNOTATION} ${quoted} is used twice`;
  names.add(header.toLowerCase());
  return undefined;
}
