import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { ArrayRule, NumberRule, Rule } from './rule.js';

/** Reads a schema below this one; the token is the way to it, as JSON Pointers spell it. */
export type ReadChild = (value: JsonValue, token: string) => Rule;
/** Reads the schemas that a keyword lists, where it lists any. */
export type ReadChildren = (key: string) => Rule[] | undefined;
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** `items` as an array, with `additionalItems` behind it, is what `prefixItems` and `items` are since 2020-12. */
export function readArray(schema: JsonObject, child: ReadChild, children: ReadChildren): ArrayRule | undefined {
  const isOldTuple = Array.isArray(schema.items);
  const leading = children('prefixItems') ?? (isOldTuple ? children('items') : undefined) ?? [];
  const following = isOldTuple ? schema.additionalItems : schema.items;
  const rule: Writable<ArrayRule> = { leading, ...bounds(schema, 'minItems', 'maxItems') };
  if (isSchema(following)) rule.items = child(following, isOldTuple ? 'additionalItems' : 'items');
  if (isSchema(schema.unevaluatedItems)) rule.unevaluated = child(schema.unevaluatedItems, 'unevaluatedItems');
  if (isSchema(schema.contains)) {
    rule.contains = {
      rule: child(schema.contains, 'contains'),
      minimum: countOf(schema.minContains) ?? 1,
      maximum: countOf(schema.maxContains) ?? Number.POSITIVE_INFINITY,
    };
  }
  if (schema.uniqueItems === true) rule.isUnique = true;
  return leading.length === 0 && Object.keys(rule).length === 1 ? undefined : rule;
}

export function readNumber(schema: JsonObject): NumberRule | undefined {
  const rule: Writable<NumberRule> = {};
  for (const key of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const) {
    const limit = schema[key];
    if (typeof limit === 'number' && (key !== 'multipleOf' || limit > 0)) rule[key] = limit;
  }
  // Draft-04: a boolean says that the limit beside it is itself excluded.
  if (schema.exclusiveMinimum === true && rule.minimum !== undefined) rule.exclusiveMinimum = rule.minimum;
  if (schema.exclusiveMaximum === true && rule.maximum !== undefined) rule.exclusiveMaximum = rule.maximum;
  return isEmpty(rule) ? undefined : rule;
}

export function bounds(schema: JsonObject, least: string, most: string): { minimum?: number; maximum?: number } {
  const minimum = countOf(schema[least]);
  const maximum = countOf(schema[most]);
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
}

function countOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

export function isSchema(value: JsonValue | undefined): value is JsonObject | boolean {
  return typeof value === 'boolean' || isJsonObject(value);
}

export function entriesOf(value: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

export function stringsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

export function isEmpty(rule: object): boolean {
  return Object.keys(rule).length === 0;
}
