import { isJsonObject, type JsonValue } from '../../../domain/json.js';
import type { Constraints } from '../../../domain/json-schema/constraints.js';
import { type ObjectShape, type SchemaNode, type TupleShape, withoutReference } from './schema-model.js';

/** The maximum depth of the check. Deeper values are accepted. */
const MAX_DEPTH = 24;

/**
 * Whether a value matches a type, checking types and simple limits only. It is not a validator: patterns and formats are ignored.
 * Servers give defaults and examples that do not match their own schemas, and those are not passed on.
 */
export function conforms(node: SchemaNode, value: JsonValue, depth = 0): boolean {
  if (depth > MAX_DEPTH) return true;
  const { shape, notes } = withoutReference(node);
  switch (shape.kind) {
    case 'unknown':
      return true;
    case 'never':
      return false;
    case 'null':
      return value === null;
    case 'boolean':
      return typeof value === 'boolean';
    case 'string':
      return typeof value === 'string' && withinLength(value, notes.constraints);
    case 'number':
      return typeof value === 'number' && withinRange(value, notes.constraints);
    case 'integer':
      return Number.isInteger(value) && withinRange(value as number, notes.constraints);
    case 'literals':
      return shape.values.some((literal) => isSameJson(literal, value));
    case 'array':
      return Array.isArray(value) && value.every((item) => conforms(shape.item, item, depth + 1));
    case 'tuple':
      return Array.isArray(value) && conformsToTuple(shape, value, depth);
    case 'object':
      return isJsonObject(value) && conformsToObject(shape, value, depth);
    case 'union':
      return shape.options.some((option) => conforms(option, value, depth + 1));
    case 'intersection':
      return shape.parts.every((part) => conforms(part, value, depth + 1));
    case 'reference':
      return true;
  }
}

export function isSameJson(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  return JSON.stringify(left) === JSON.stringify(right);
}

function conformsToTuple(shape: TupleShape, values: readonly JsonValue[], depth: number): boolean {
  if (values.length < shape.requiredCount) return false;
  return values.every((value, index) => {
    const node = shape.elements[index] ?? shape.rest;
    return node !== undefined && conforms(node, value, depth + 1);
  });
}

function conformsToObject(shape: ObjectShape, value: { readonly [key: string]: JsonValue }, depth: number): boolean {
  for (const [name, property] of shape.properties) {
    if (property.isRequired && !Object.hasOwn(value, name)) return false;
  }
  return Object.entries(value).every(([name, member]) => {
    const property = shape.properties.get(name);
    if (property !== undefined) return conforms(property.node, member, depth + 1);
    if (shape.patterns.length > 0 || shape.additional === 'unstated') return true;
    return shape.additional !== 'closed' && conforms(shape.additional, member, depth + 1);
  });
}

function withinLength(value: string, constraints: Constraints | undefined): boolean {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = constraints ?? {};
  return value.length >= minLength && value.length <= maxLength;
}

function withinRange(value: number, constraints: Constraints | undefined): boolean {
  if (constraints === undefined) return true;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = constraints;
  if (minimum !== undefined && value < minimum) return false;
  if (maximum !== undefined && value > maximum) return false;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return false;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return false;
  return multipleOf === undefined || multipleOf <= 0 || Number.isInteger(value / multipleOf);
}
