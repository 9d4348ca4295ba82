import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.js';
import { type Constraints, NO_NOTES, type Notes } from './schema-model.js';

/** What a schema says in words, and the limits that types can't say. Wrongly typed keywords are passed over. */
export function readNotes(schema: JsonObject): Notes {
  const notes: { -readonly [Key in keyof Notes]: Notes[Key] } = {};
  if (typeof schema.title === 'string' && schema.title !== '') notes.title = schema.title;
  if (typeof schema.description === 'string' && schema.description !== '') notes.description = schema.description;
  if (schema.default !== undefined) notes.defaultValue = { value: schema.default };
  const examples = readExamples(schema);
  if (examples !== undefined) notes.examples = examples;
  if (typeof schema.format === 'string' && schema.format !== '') notes.format = schema.format;
  if (schema.deprecated === true) notes.deprecated = true;
  if (schema.readOnly === true) notes.readOnly = true;
  const constraints = readConstraints(schema);
  if (constraints !== undefined) notes.constraints = constraints;
  const lost = lostKeywords(schema);
  if (lost.length > 0) notes.warnings = [`not expressed in this type: ${lost.join(', ')}`];
  return Object.keys(notes).length === 0 ? NO_NOTES : notes;
}

/** The notes of two schemas that both hold for a value: what the first says in words stands, limits add up. */
export function mergeNotes(first: Notes, second: Notes): Notes {
  if (second === NO_NOTES || first === second) return first;
  if (first === NO_NOTES) return second;
  const constraints = mergeConstraints(first.constraints, second.constraints);
  const warnings = [...new Set([...(first.warnings ?? []), ...(second.warnings ?? [])])];
  return {
    ...second,
    ...first,
    ...(constraints === undefined ? {} : { constraints }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

export function withWarning(notes: Notes, warning: string): Notes {
  return mergeNotes(notes, { warnings: [warning] });
}

function readExamples(schema: JsonObject): readonly JsonValue[] | undefined {
  // `examples` is a list in JSON Schema; `example` is one value, in OpenAPI.
  if (Array.isArray(schema.examples)) return schema.examples.length > 0 ? schema.examples : undefined;
  return schema.example === undefined ? undefined : [schema.example];
}

const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties'] as const;
const TEXTS = ['pattern', 'contentEncoding', 'contentMediaType'] as const;

function readConstraints(schema: JsonObject): Constraints | undefined {
  const found: { -readonly [Key in keyof Constraints]: Constraints[Key] } = {};
  for (const key of NUMBERS) {
    const value = schema[key];
    if (typeof value === 'number') found[key] = value;
  }
  for (const key of COUNTS) {
    const value = schema[key];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) found[key] = value;
  }
  for (const key of TEXTS) {
    const value = schema[key];
    if (typeof value === 'string' && value !== '') found[key] = value;
  }
  if (schema.uniqueItems === true) found.uniqueItems = true;
  // Draft-04: a boolean says that the limit beside it is itself excluded.
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

const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'] as const;
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'] as const;

function mergeConstraints(first: Constraints | undefined, second: Constraints | undefined): Constraints | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const merged: { -readonly [Key in keyof Constraints]: Constraints[Key] } = { ...second, ...first };
  for (const key of LOWER_BOUNDS) {
    const [a, b] = [first[key], second[key]];
    if (a !== undefined && b !== undefined) merged[key] = Math.max(a, b);
  }
  for (const key of UPPER_BOUNDS) {
    const [a, b] = [first[key], second[key]];
    if (a !== undefined && b !== undefined) merged[key] = Math.min(a, b);
  }
  return merged;
}

/** Keywords that restrict a value in ways none of our types can say. */
const INEXPRESSIBLE = [
  ...['not', 'dependentRequired', 'dependentSchemas', 'dependencies', 'contains'],
  ...['unevaluatedItems', 'maxProperties'],
] as const;

function lostKeywords(schema: JsonObject): string[] {
  const lost: string[] = INEXPRESSIBLE.filter((key) => schema[key] !== undefined && schema[key] !== true);
  if (schema.if !== undefined && (schema.then !== undefined || schema.else !== undefined)) lost.push('if/then/else');
  const names = schema.propertyNames;
  if (isJsonObject(names) && (names.pattern !== undefined || names.maxLength !== undefined)) lost.push('propertyNames');
  return lost;
}
