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
  /** Characters of the longest canonical text. */
  readonly longest: number;
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

/**
 * Returns the same text for values that JSON Schema calls equal: the order of keys does not count. `undefined` if it would have more than
 * `most` characters: then it takes no longer than a text of that length.
 */
export function canonicalText(value: JsonValue, most: number = Number.POSITIVE_INFINITY): string | undefined {
  const budget = { left: most };
  const text = textWithin(value, budget, 0);
  return budget.left < 0 ? undefined : text;
}

/** Once nothing is left, all further texts are empty. */
function textWithin(value: JsonValue, budget: { left: number }, depth: number): string {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string' && value.length > budget.left) {
      budget.left = -1;
      return '';
    }
    const text = JSON.stringify(value);
    budget.left -= text.length;
    return text;
  }
  if (depth > MAX_COMPARED_DEPTH) return UNCOMPARED;
  const members = Array.isArray(value) ? value : Object.keys(value);
  // Brackets, and a comma or bracket for each member.
  budget.left -= 2 + members.length;
  if (budget.left < 0) return '';
  const within = (member: JsonValue) => (budget.left < 0 ? '' : textWithin(member, budget, depth + 1));
  if (Array.isArray(value)) return `[${value.map(within).join()}]`;
  const pairs = (members as string[]).sort().map((key) => {
    budget.left -= key.length;
    return budget.left < 0 ? '' : `${JSON.stringify(key)}:${within(value[key] as JsonValue)}`;
  });
  return `{${pairs.join()}}`;
}

export function allowedValues(list: readonly JsonValue[]): AllowedValues {
  const simple = new Set<JsonValue>();
  const composite = new Set<string>();
  let longest = 0;
  for (const value of list) {
    if (typeof value === 'object' && value !== null) {
      const text = canonicalText(value) as string;
      composite.add(text);
      longest = Math.max(longest, text.length);
    } else simple.add(value);
  }
  return { list, simple, composite, longest };
}

export function isAllowed(values: AllowedValues, value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return values.simple.has(value);
  const text = values.composite.size === 0 ? undefined : comparedText(values, value);
  return text !== undefined && values.composite.has(text);
}

/** The canonical text of a value, unless it is longer than all that is allowed. */
export function comparedText({ longest }: AllowedValues, value: JsonValue): string | undefined {
  // The budget of a text counts one comma too many for each container, which has two brackets.
  return canonicalText(value, 2 * longest);
}

export function typeOf(value: JsonValue): Exclude<TypeName, 'integer'> {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'object' | 'string' | 'number' | 'boolean';
}
