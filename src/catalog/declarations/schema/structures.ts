import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.js';
import { escapeToken } from '../../../domain/json-schema/references.js';
import {
  NO_NOTES,
  type ObjectProperty,
  type ObjectShape,
  type PatternProperty,
  type SchemaNode,
  type Shape,
  UNKNOWN,
} from './schema-model.js';

/** Reads a schema below this one; the token is the way to it, as JSON Pointers spell it. */
export type ReadChild = (schema: JsonValue, token: string) => SchemaNode;

/** Properties, required names, and what other keys may hold. */
export function readObject(schema: JsonObject, readChild: ReadChild): ObjectShape {
  const required = new Set(stringsOf(schema.required));
  const additional = readAdditional(schema, readChild);
  const properties = new Map<string, ObjectProperty>();
  for (const [name, property] of entriesOf(schema.properties)) {
    properties.set(name, {
      node: readChild(property, `properties/${escapeToken(name)}`),
      // Draft-03 marked the property itself; servers still do it.
      isRequired: required.has(name) || (isJsonObject(property) && property.required === true),
    });
  }
  const other = typeof additional === 'string' ? undefined : additional;
  const named = isJsonObject(schema.propertyNames) ? stringsOf(schema.propertyNames.enum) : [];
  for (const name of named) {
    if (!properties.has(name)) properties.set(name, { node: other ?? anything(), isRequired: required.has(name) });
  }
  // A name that is required but nowhere described is a field that must be there, of a type we can't know (E9).
  for (const name of required) {
    if (!properties.has(name)) properties.set(name, { node: other ?? anything(), isRequired: true });
  }
  const patterns: PatternProperty[] = entriesOf(schema.patternProperties).map(([pattern, property]) => ({
    pattern,
    node: readChild(property, `patternProperties/${escapeToken(pattern)}`),
  }));
  return { kind: 'object', properties, additional: named.length > 0 ? 'closed' : additional, patterns };
}

function readAdditional(schema: JsonObject, readChild: ReadChild): ObjectShape['additional'] {
  for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
    const additional = schema[keyword];
    if (additional === undefined) continue;
    if (additional === false) return 'closed';
    return readChild(additional, keyword);
  }
  return 'unstated';
}

/** A list, or a tuple: `prefixItems`, or `items` as an array as drafts before 2020-12 have it. */
export function readArray(schema: JsonObject, readChild: ReadChild): Shape {
  const isOldTuple = Array.isArray(schema.items);
  const leading = Array.isArray(schema.prefixItems) ? schema.prefixItems : isOldTuple ? schema.items : undefined;
  const following = isOldTuple ? schema.additionalItems : schema.items;
  if (!Array.isArray(leading) || leading.length === 0) {
    return { kind: 'array', item: readChild(isOldTuple ? true : (following ?? true), 'items') };
  }
  const keyword = schema.prefixItems === undefined ? 'items' : 'prefixItems';
  const maximum = typeof schema.maxItems === 'number' ? schema.maxItems : Number.POSITIVE_INFINITY;
  const minimum = typeof schema.minItems === 'number' ? schema.minItems : 0;
  const elements = leading
    .slice(0, Math.max(0, maximum))
    .map((element, index) => readChild(element, `${keyword}/${index}`));
  const hasRoom = following !== false && maximum > leading.length;
  const isOpen = hasRoom && following !== undefined;
  const rest = isOpen ? readChild(following, 'items') : minimum > leading.length ? anything() : undefined;
  const isUnstated = hasRoom && rest === undefined;
  const requiredCount = Math.min(Math.max(0, Math.floor(minimum)), elements.length);
  return {
    kind: 'tuple',
    elements,
    requiredCount,
    ...(rest === undefined ? {} : { rest }),
    ...(isUnstated ? { isUnstated } : {}),
  };
}

function anything(): SchemaNode {
  return { shape: UNKNOWN, notes: NO_NOTES };
}

function entriesOf(value: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function stringsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
