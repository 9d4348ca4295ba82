import { isJsonObject, type JsonValue } from '../../../domain/json.js';
import { isMarkedRequired, readKeywords, type SchemaKeywords } from '../../../domain/json-schema/keywords.js';
import { escapeToken } from '../../../domain/json-schema/references.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import {
  NO_NOTES,
  type ObjectProperty,
  type ObjectShape,
  type PatternProperty,
  type SchemaNode,
  type Shape,
  UNKNOWN,
} from './schema-model.js';

/** Reads a child schema; the token is its path as in a JSON Pointer. */
export type ReadChild = (schema: JsonValue, token: string) => SchemaNode;

/** Properties, required names, and the type of other keys. */
export function readObject(keywords: SchemaKeywords, readChild: ReadChild): ObjectShape {
  const required = new Set(keywords.required);
  const additional = readAdditional(keywords, readChild);
  const properties = new Map<string, ObjectProperty>();
  for (const [name, property] of Object.entries(keywords.properties ?? {})) {
    properties.set(name, {
      node: readChild(property, `properties/${escapeToken(name)}`),
      isRequired: required.has(name) || isMarkedRequired(property),
    });
  }
  const other = typeof additional === 'string' ? undefined : additional;
  const { propertyNames } = keywords;
  const named = isJsonObject(propertyNames) ? (readKeywords(propertyNames).enumeration ?? []) : [];
  const names = named.filter((name) => typeof name === 'string');
  // A required name without a description is a required field of unknown type (E9).
  for (const name of [...names, ...required]) {
    if (!properties.has(name)) properties.set(name, { node: other ?? unknown(), isRequired: required.has(name) });
  }
  const patterns: PatternProperty[] = Object.entries(keywords.patternProperties ?? {}).map(([pattern, property]) => ({
    pattern,
    node: readChild(property, `patternProperties/${escapeToken(pattern)}`),
  }));
  return { kind: 'object', properties, additional: names.length > 0 ? 'closed' : additional, patterns };
}

function readAdditional(keywords: SchemaKeywords, readChild: ReadChild): ObjectShape['additional'] {
  for (const keyword of ['additionalProperties', 'unevaluatedProperties'] as const) {
    const additional = keywords[keyword];
    if (additional === undefined) continue;
    if (additional === false) return 'closed';
    return readChild(additional, keyword);
  }
  return 'unstated';
}

/** A list, or a tuple. */
export function readArray(
  { prefixItems, prefixKeyword, items, constraints }: SchemaKeywords,
  readChild: ReadChild,
): Shape {
  if (prefixItems === undefined) return { kind: 'array', item: readChild(items ?? true, 'items') };
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = constraints ?? {};
  const elements = prefixItems
    .slice(0, maxItems)
    .map((element, index) => readChild(element, `${prefixKeyword}/${index}`));
  const hasRoom = items !== false && maxItems > prefixItems.length;
  const isOpen = hasRoom && items !== undefined;
  const rest = isOpen ? readChild(items, 'items') : minItems > prefixItems.length ? unknown() : undefined;
  const isUnstated = hasRoom && rest === undefined;
  return {
    kind: 'tuple',
    elements,
    requiredCount: Math.min(minItems, elements.length),
    ...omitUndefined({ rest }),
    ...(isUnstated ? { isUnstated } : {}),
  };
}

function unknown(): SchemaNode {
  return { shape: UNKNOWN, notes: NO_NOTES };
}
