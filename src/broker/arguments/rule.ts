import type { JsonValue } from '../../domain/json.js';
import type { Constraints } from '../../domain/json-schema/constraints.js';

/** A compiled schema, ready to check values. Common schema mistakes are corrected, and references are pointers. */
export interface Rule {
  readonly title?: string;
  readonly format?: string;
  /** No value is allowed here. */
  readonly isNever?: boolean;
  /** `null` is accepted, whatever the other fields say. */
  readonly isNullable?: boolean;
  readonly types?: readonly TypeName[];
  /** `const` and `enum`. */
  readonly values?: readonly AllowedValues[];
  readonly object?: ObjectRule;
  readonly array?: ArrayRule;
  readonly limits?: Constraints;
  readonly pattern?: Pattern;
  /** `allOf`, and the targets of references. */
  readonly all?: readonly Rule[];
  readonly anyOf?: readonly Rule[];
  readonly oneOf?: readonly Rule[];
  readonly not?: Rule;
  readonly condition?: { readonly if: Rule; readonly then: Rule; readonly else: Rule };
}

export type TypeName = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

/** Allowed values. Primitives are compared directly, others by their canonical text. */
export interface AllowedValues {
  readonly list: readonly JsonValue[];
  readonly simple: ReadonlySet<JsonValue>;
  readonly composite: ReadonlySet<string>;
}

export interface ObjectRule {
  readonly properties: ReadonlyMap<string, Rule>;
  readonly patterns: readonly { readonly pattern: Pattern; readonly rule: Rule }[];
  readonly additional?: Rule;
  readonly unevaluated?: Rule;
  readonly required: readonly string[];
  /** If the key is given, these must be given too. */
  readonly dependentRequired: readonly (readonly [key: string, names: readonly string[]])[];
  readonly dependentRules: readonly (readonly [key: string, rule: Rule])[];
  readonly names?: Rule;
}

export interface ArrayRule {
  readonly leading: readonly Rule[];
  readonly items?: Rule;
  readonly unevaluated?: Rule;
  readonly contains?: { readonly rule: Rule; readonly minimum: number; readonly maximum: number };
}

/** An untrusted regular expression, run by an engine that never backtracks. */
export interface Pattern {
  readonly source: string;
  test(text: string): boolean;
}

export const ANYTHING: Rule = Object.freeze({});
export const NOTHING: Rule = Object.freeze({ isNever: true });

/** Maximum depth of comparison. */
const MAX_COMPARED_DEPTH = 64;
/** Stands for parts that are nested deeper. This character cannot occur in JSON text. */
export const UNCOMPARED = '\u0000';

/** Returns the same text for values that JSON Schema calls equal: the order of keys does not count. */
export function canonicalText(value: JsonValue, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth > MAX_COMPARED_DEPTH) return UNCOMPARED;
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item, depth + 1)).join()}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key] as JsonValue, depth + 1)}`);
  return `{${members.join()}}`;
}

export function allowedValues(list: readonly JsonValue[]): AllowedValues {
  const simple = new Set<JsonValue>();
  const composite = new Set<string>();
  for (const value of list) {
    if (typeof value === 'object' && value !== null) composite.add(canonicalText(value));
    else simple.add(value);
  }
  return { list, simple, composite };
}

export function isAllowed(values: AllowedValues, value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return values.simple.has(value);
  return values.composite.size > 0 && values.composite.has(canonicalText(value));
}

export function typeOf(value: JsonValue): Exclude<TypeName, 'integer'> {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'object' | 'string' | 'number' | 'boolean';
}
