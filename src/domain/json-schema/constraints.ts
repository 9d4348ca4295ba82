import type { JsonObject, JsonValue } from '../json.js';

/** Limits on values. Draft-04 booleans are turned into numbers; a count is a whole number from 0. */
export interface Constraints {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly contentEncoding?: string;
  readonly contentMediaType?: string;
  readonly uniqueItems?: boolean;
}

const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const;
const TEXTS = ['pattern', 'contentEncoding', 'contentMediaType'] as const;
const KEYWORDS: ReadonlySet<string> = new Set([...NUMBERS, ...COUNTS, ...TEXTS, 'uniqueItems']);

export function isConstraint(keyword: string): boolean {
  return KEYWORDS.has(keyword);
}

/** In the order of the type, regardless of the schema's order. */
export function readConstraints(schema: JsonObject): Constraints | undefined {
  const found: { -readonly [Key in keyof Constraints]: Constraints[Key] } = {};
  for (const key of NUMBERS) {
    const value = schema[key];
    if (typeof value === 'number' && (key !== 'multipleOf' || value > 0)) found[key] = value;
  }
  for (const key of COUNTS) {
    const value = countOf(schema[key]);
    if (value !== undefined) found[key] = value;
  }
  for (const key of TEXTS) {
    const value = textOf(schema[key]);
    if (value !== undefined) found[key] = value;
  }
  if (schema.uniqueItems === true) found.uniqueItems = true;
  // Draft-04: the boolean `true` means that the limit beside it is exclusive.
  if (schema.exclusiveMinimum === true && found.minimum !== undefined) {
    found.exclusiveMinimum = found.minimum;
    delete found.minimum;
  }
  if (schema.exclusiveMaximum === true && found.maximum !== undefined) {
    found.exclusiveMaximum = found.maximum;
    delete found.maximum;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** A whole number from 0. */
export function countOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
