import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { type Constraints, countOf, isConstraint, readConstraints, textOf } from './constraints.js';

/**
 * The keywords of one schema in the form of 2020-12, whatever draft they were written in. A keyword with a value that JSON
 * Schema does not allow is `undefined`. Subschemas are left as the server sent them: `true`, `false`, an object, or an invalid
 * value that only the reader of that subschema can report.
 */
export type SchemaKeywords = Readonly<Keywords>;

class Keywords {
  /** In lower case, because some converters write `STRING`. Includes names that JSON Schema does not define. */
  types: readonly string[] | undefined;
  /** `$ref`, `$dynamicRef` and `$recursiveRef`. */
  references: readonly string[] | undefined;
  constant: JsonValue | undefined;
  enumeration: readonly JsonValue[] | undefined;
  /** Never empty, like `anyOf` and `oneOf`. */
  allOf: readonly JsonValue[] | undefined;
  anyOf: readonly JsonValue[] | undefined;
  oneOf: readonly JsonValue[] | undefined;
  not: JsonValue | undefined;
  if: JsonValue | undefined;
  // biome-ignore lint/suspicious/noThenProperty: the keyword's own name; it is a schema, never called
  then: JsonValue | undefined;
  else: JsonValue | undefined;

  properties: JsonObject | undefined;
  patternProperties: JsonObject | undefined;
  required: readonly string[] | undefined;
  additionalProperties: JsonValue | undefined;
  unevaluatedProperties: JsonValue | undefined;
  propertyNames: JsonValue | undefined;
  /** Includes the lists of `dependencies`, the form up to draft-07. */
  dependentRequired: Dependency<readonly string[]>[] | undefined;
  /** Includes the schemas of `dependencies`. */
  dependentSchemas: Dependency<JsonObject | boolean>[] | undefined;

  /** Never empty. Up to 2019-09 this is `items` with a list; then `prefixKeyword` is `items`. */
  prefixItems: readonly JsonValue[] | undefined;
  prefixKeyword: 'prefixItems' | 'items' = 'prefixItems';
  /** The schema of the items after the prefix. If `items` is a list, this is `additionalItems`. */
  items: JsonValue | undefined;
  unevaluatedItems: JsonValue | undefined;
  contains: JsonValue | undefined;
  minContains: number | undefined;
  maxContains: number | undefined;

  constraints: Constraints | undefined;
  title: string | undefined;
  description: string | undefined;
  format: string | undefined;
  default: JsonValue | undefined;
  /** Never empty. OpenAPI's single `example` is included. */
  examples: readonly JsonValue[] | undefined;
  isDeprecated = false;
  isReadOnly = false;
  /** OpenAPI 3.0: `null` is allowed too. */
  isNullable = false;
  /** Keywords that affect the type and have a value that JSON Schema does not allow. */
  malformed: string[] | undefined;
}

/** What must hold if the key is given. */
export type Dependency<T> = readonly [key: string, then: T];

/** Reads only the keywords that are present: most schemas have three. Never throws. */
export function readKeywords(schema: JsonObject): SchemaKeywords {
  const found = new Keywords();
  let hasConstraints = false;
  for (const key of Object.keys(schema)) {
    const value = schema[key] as JsonValue;
    switch (key) {
      case 'type':
        found.types = typesOf(value);
        break;
      case '$ref':
      case '$dynamicRef':
      case '$recursiveRef':
        found.references ??= referenceTexts(schema);
        break;
      case 'const':
        found.constant = value;
        break;
      case 'enum':
        if (Array.isArray(value)) found.enumeration = value;
        else markMalformed(found, key);
        break;
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        if (!Array.isArray(value)) markMalformed(found, key);
        else if (value.length > 0) found[key] = value;
        break;
      case 'properties':
        if (isJsonObject(value)) found.properties = value;
        else markMalformed(found, key);
        break;
      case 'patternProperties':
        if (isJsonObject(value)) found.patternProperties = value;
        break;
      case 'required':
        if (Array.isArray(value)) found.required = stringsOf(value);
        break;
      case 'not':
      case 'if':
      case 'then':
      case 'else':
      case 'additionalProperties':
      case 'unevaluatedProperties':
      case 'propertyNames':
      case 'unevaluatedItems':
      case 'contains':
      case 'default':
        found[key] = value;
        break;
      case 'dependencies':
      case 'dependentRequired':
      case 'dependentSchemas':
        if (isJsonObject(value)) readDependencies(found, key, value);
        break;
      case 'items':
        if (!Array.isArray(value) && !isSchema(value)) markMalformed(found, key);
        readItems(found, schema);
        break;
      case 'prefixItems':
      case 'additionalItems':
        readItems(found, schema);
        break;
      case 'minContains':
      case 'maxContains':
        found[key] = countOf(value);
        break;
      case 'title':
      case 'description':
      case 'format':
        found[key] = textOf(value);
        break;
      case 'examples':
        if (Array.isArray(value)) found.examples = value.length > 0 ? value : undefined;
        break;
      case 'example':
        if (!Array.isArray(schema.examples)) found.examples = [value];
        break;
      case 'deprecated':
        found.isDeprecated = value === true;
        break;
      case 'readOnly':
        found.isReadOnly = value === true;
        break;
      case 'nullable':
        found.isNullable = value === true;
        break;
      default:
        hasConstraints ||= isConstraint(key);
    }
  }
  if (hasConstraints) found.constraints = readConstraints(schema);
  return found;
}

function typesOf(type: JsonValue): readonly string[] | undefined {
  if (typeof type === 'string') return [type.toLowerCase()];
  return Array.isArray(type) ? stringsOf(type).map((name) => name.toLowerCase()) : undefined;
}

function referenceTexts({ $ref, $dynamicRef, $recursiveRef }: JsonObject): readonly string[] | undefined {
  const texts = [$ref, $dynamicRef, $recursiveRef].filter((reference) => typeof reference === 'string');
  return texts.length > 0 ? texts : undefined;
}

function readItems(found: Keywords, { items, prefixItems, additionalItems }: JsonObject): void {
  const isDraft07Tuple = Array.isArray(items);
  for (const list of [items, prefixItems]) {
    if (!Array.isArray(list) || list.length === 0) continue;
    found.prefixItems = list;
    found.prefixKeyword = list === items ? 'items' : 'prefixItems';
  }
  found.items = isDraft07Tuple ? additionalItems : items;
}

function readDependencies(found: Keywords, keyword: string, dependencies: JsonObject): void {
  for (const [key, value] of Object.entries(dependencies)) {
    if (Array.isArray(value) && keyword !== 'dependentSchemas') {
      found.dependentRequired ??= [];
      found.dependentRequired.push([key, stringsOf(value)]);
    } else if (isSchema(value) && keyword !== 'dependentRequired') {
      found.dependentSchemas ??= [];
      found.dependentSchemas.push([key, value]);
    }
  }
}

function markMalformed(found: Keywords, keyword: string): void {
  found.malformed ??= [];
  found.malformed.push(keyword);
}

/** Draft-03 marks the property itself as required, and some servers still do. */
export function isMarkedRequired(property: JsonValue): boolean {
  return isJsonObject(property) && property.required === true;
}

export function isSchema(value: JsonValue | undefined): value is JsonObject | boolean {
  return typeof value === 'boolean' || isJsonObject(value);
}

function stringsOf(list: readonly JsonValue[]): string[] {
  return list.filter((item) => typeof item === 'string');
}
