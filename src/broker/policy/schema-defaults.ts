import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { type References, referencesOf } from '../../domain/json-schema/references.js';

/** Subschemas that are searched for one place. In a larger schema the defaults are undecidable. */
const MAX_SCHEMAS = 1_000;
/** Cached places per schema. Rules name few. */
const MAX_PLACES = 100;

/**
 * The values that a tool may use if nothing is sent at a place (`*`: any member): all defaults for it, in any part of the
 * schema. Its server wrote the schema, and a default behind a reference counts like any other. `undefined` if the schema is too
 * large to search.
 */
export function defaultsAt(schema: JsonObject, place: readonly string[]): readonly JsonValue[] | undefined {
  const known = cache.get(schema) ?? new Map<string, readonly JsonValue[] | undefined>();
  cache.set(schema, known);
  const key = JSON.stringify(place);
  if (known.has(key)) return known.get(key);
  const found = search(schema, place);
  if (known.size < MAX_PLACES) known.set(key, found);
  return found;
}

/** Tool objects stay the same until their server lists its tools again. */
const cache = new WeakMap<JsonObject, Map<string, readonly JsonValue[] | undefined>>();

function search(schema: JsonObject, place: readonly string[]): readonly JsonValue[] | undefined {
  const references = referencesOf(schema);
  let nodes = applying([schema], references);
  for (const step of place)
    nodes =
      nodes &&
      applying(
        nodes.flatMap((node) => childrenOf(node, step)),
        references,
      );
  return nodes?.flatMap((node) => (Object.hasOwn(node, 'default') ? [node.default as JsonValue] : []));
}

/** The schemas, and all that they reference or are composed of, regardless of which values those apply to. */
function applying(schemas: readonly JsonValue[], references: References): JsonObject[] | undefined {
  const found = new Set<JsonObject>();
  const open = [...schemas];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isJsonObject(node) || found.has(node)) continue;
    if (found.size >= MAX_SCHEMAS) return undefined;
    found.add(node);
    for (const key of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const reference = own(node, key);
      const target = typeof reference === 'string' ? references.resolve(reference, node)?.target : undefined;
      if (target !== undefined) open.push(target);
    }
    for (const key of ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else']) open.push(...listOf(own(node, key)));
    open.push(...membersOf(own(node, 'dependentSchemas')));
  }
  return [...found];
}

/** The subschemas of a member. A pattern counts without being matched: it may be written so that it misses. */
function childrenOf(node: JsonObject, step: string): JsonValue[] {
  const properties = own(node, 'properties');
  const named = isJsonObject(properties) && step !== '*' ? listOf(own(properties, step)) : membersOf(properties);
  const others = ['additionalProperties', 'unevaluatedProperties'].flatMap((key) => listOf(own(node, key)));
  const isMember = step === '*' || /^\d+$/.test(step);
  const items = ['items', 'prefixItems', 'additionalItems', 'unevaluatedItems'].flatMap((key) =>
    listOf(own(node, key)),
  );
  return [...named, ...membersOf(own(node, 'patternProperties')), ...others, ...(isMember ? items : [])];
}

function own(node: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return value === undefined ? [] : Array.isArray(value) ? [...value] : [value];
}

function membersOf(value: JsonValue | undefined): JsonValue[] {
  return isJsonObject(value) ? (Object.values(value) as JsonValue[]) : [];
}
