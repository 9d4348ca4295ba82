import type { JsonObject } from '../../../domain/json.js';

/**
 * The declared types, in lower case (some converters shout), or the one that the keywords imply. Beside a combinator
 * only object keywords imply something: `anyOf: [string, null]` with `minLength` is still nullable.
 */
export function declaredTypes(schema: JsonObject): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type.toLowerCase()];
  if (Array.isArray(type)) {
    return type.filter((name): name is string => typeof name === 'string').map((name) => name.toLowerCase());
  }
  if (COMBINATORS.some((key) => schema[key] !== undefined)) {
    // `required: true` is draft-03's way to mark a property, and says nothing about its type.
    return OBJECT_KEYWORDS.some((key) => typeof schema[key] === 'object') ? ['object'] : [];
  }
  const implied = IMPLIED_TYPES.find(([, keywords]) =>
    keywords.some((key) => schema[key] !== undefined && !(key === 'required' && typeof schema[key] === 'boolean')),
  );
  return implied === undefined ? [] : [implied[0]];
}

/** The types that JSON Schema knows, and the one that people believe it knows. */
export const KNOWN_TYPES: ReadonlySet<string> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
  'any',
]);

const OBJECT_KEYWORDS = ['properties', 'patternProperties', 'required'];
const IMPLIED_TYPES: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ['object', [...OBJECT_KEYWORDS, 'additionalProperties', 'propertyNames', 'minProperties', 'maxProperties']],
  ['array', ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems', 'contains']],
  ['string', ['pattern', 'minLength', 'maxLength', 'contentEncoding', 'contentMediaType']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];
const COMBINATORS = ['$ref', '$dynamicRef', '$recursiveRef', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'];
