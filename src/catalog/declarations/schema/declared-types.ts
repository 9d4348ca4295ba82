import type { SchemaKeywords } from '../../../domain/json-schema/keywords.js';

/**
 * The declared types, or the type that the keywords imply. Beside a combinator only object keywords imply a type: `anyOf: [string,
 * null]` with `minLength` is still nullable.
 */
export function declaredTypes(keywords: SchemaKeywords): readonly string[] {
  if (keywords.types !== undefined) return keywords.types;
  if ((keywords.properties ?? keywords.patternProperties ?? keywords.required) !== undefined) return ['object'];
  if (hasCombinator(keywords)) return [];
  const { constraints = {} } = keywords;
  const { additionalProperties, unevaluatedProperties, propertyNames } = keywords;
  if ((additionalProperties ?? unevaluatedProperties ?? propertyNames) !== undefined) return ['object'];
  if ((constraints.minProperties ?? constraints.maxProperties) !== undefined) return ['object'];
  if ((keywords.items ?? keywords.prefixItems ?? keywords.contains) !== undefined) return ['array'];
  if ((constraints.minItems ?? constraints.maxItems ?? constraints.uniqueItems) !== undefined) return ['array'];
  if (TEXT_LIMITS.some((key) => constraints[key] !== undefined)) return ['string'];
  return NUMBER_LIMITS.some((key) => constraints[key] !== undefined) ? ['number'] : [];
}

/** The types of JSON Schema, and one that people believe it has. */
export const KNOWN_TYPES: ReadonlySet<string> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
  'any',
]);

const TEXT_LIMITS = ['pattern', 'minLength', 'maxLength', 'contentEncoding', 'contentMediaType'] as const;
const NUMBER_LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;

function hasCombinator({ references, anyOf, oneOf, allOf, enumeration, constant }: SchemaKeywords): boolean {
  return (references ?? anyOf ?? oneOf ?? allOf ?? enumeration ?? constant) !== undefined;
}
