import type { JsonObject } from '../../../domain/json.js';
import { type SchemaModel, type SchemaNode, withoutReference } from './schema-model.js';

/** An empty schema takes no argument or `{}`, and so does an object without any properties. */
export function takesNothing(model: SchemaModel): boolean {
  const { shape } = withoutReference(model.root);
  if (shape.kind === 'unknown') return model.warnings.length === 0;
  const isEmpty = shape.kind === 'object' && shape.properties.size === 0 && shape.patterns.length === 0;
  return isEmpty && typeof shape.additional === 'string' && model.root.notes.warnings === undefined;
}

/**
 * Whether a schema accepts any object: `{ "type": "object" }` and nothing more. With empty `properties`, servers mean a tool
 * without input.
 */
export function takesAnyObject(model: SchemaModel, schema: JsonObject | undefined): boolean {
  const { shape } = withoutReference(model.root);
  return schema?.properties === undefined && shape.kind === 'object' && shape.additional === 'unstated';
}

/** Whether `{}` is a valid input, so that the argument may be omitted. */
export function isOptional(node: SchemaNode): boolean {
  const { shape } = withoutReference(node);
  if (shape.kind === 'unknown') return true;
  if (shape.kind === 'object') return ![...shape.properties.values()].some((property) => property.isRequired);
  if (shape.kind === 'union') return shape.options.some(isOptional);
  return shape.kind === 'intersection' && shape.parts.every(isOptional);
}
