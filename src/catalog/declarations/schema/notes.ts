import { isJsonObject } from '../../../domain/json.js';
import type { Constraints } from '../../../domain/json-schema/constraints.js';
import { readKeywords, type SchemaKeywords } from '../../../domain/json-schema/keywords.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { NO_NOTES, type Notes } from './schema-model.js';

/** A schema's descriptions, and the limits that types cannot express. */
export function readNotes(keywords: SchemaKeywords): Notes {
  const { title, description, default: value, examples, format, constraints } = keywords;
  const notes: { -readonly [Key in keyof Notes]: Notes[Key] } = {};
  if (title !== undefined) notes.title = title;
  if (description !== undefined) notes.description = description;
  if (value !== undefined) notes.defaultValue = { value };
  if (examples !== undefined) notes.examples = examples;
  if (format !== undefined) notes.format = format;
  if (keywords.isDeprecated) notes.deprecated = true;
  if (keywords.isReadOnly) notes.readOnly = true;
  if (constraints !== undefined) notes.constraints = constraints;
  const lost = lostKeywords(keywords);
  if (lost.length > 0) notes.warnings = [`not expressed in this type: ${lost.join(', ')}`];
  return Object.keys(notes).length === 0 ? NO_NOTES : notes;
}

/** The notes of two schemas that both apply to a value: the first description wins, limits are combined. */
export function mergeNotes(first: Notes, second: Notes): Notes {
  if (second === NO_NOTES || first === second) return first;
  if (first === NO_NOTES) return second;
  const constraints = mergeConstraints(first.constraints, second.constraints);
  const warnings = [...new Set([...(first.warnings ?? []), ...(second.warnings ?? [])])];
  return {
    ...second,
    ...first,
    ...omitUndefined({ constraints }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

export function withWarning(notes: Notes, warning: string): Notes {
  return mergeNotes(notes, { warnings: [warning] });
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

/** Keywords that restrict a value in ways none of our types can express. */
const INEXPRESSIBLE = ['not', 'dependentRequired', 'dependentSchemas', 'contains', 'unevaluatedItems'] as const;

function lostKeywords(keywords: SchemaKeywords): string[] {
  const lost: string[] = INEXPRESSIBLE.filter((key) => keywords[key] !== undefined && keywords[key] !== true);
  if (keywords.constraints?.maxProperties !== undefined) lost.push('maxProperties');
  if (keywords.if !== undefined && (keywords.then ?? keywords.else) !== undefined) lost.push('if/then/else');
  const names = isJsonObject(keywords.propertyNames) ? readKeywords(keywords.propertyNames).constraints : undefined;
  if ((names?.pattern ?? names?.maxLength) !== undefined) lost.push('propertyNames');
  return lost;
}
