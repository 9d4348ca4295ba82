import type { JsonObject } from '../../../domain/json.js';
import { type SchemaModel, type SchemaNode, withoutReference } from './schema-model.js';

/** An empty schema takes no argument or `{}`, and so does an object without any property to give. */
export function takesNothing(model: SchemaModel): boolean {
  const { shape } = withoutReference(model.root);
  if (shape.kind === 'unknown') return model.warnings.length === 0;
  const isEmpty = shape.kind === 'object' && shape.properties.size === 0 && shape.patterns.length === 0;
  return isEmpty && typeof shape.additional === 'string' && model.root.notes.warnings === undefined;
}

/**
 * Whether a schema takes any object: `{ "type": "object" }` and nothing more. With empty `properties` it is what servers
 * write for a tool without input.
 */
export function takesAnyObject(model: SchemaModel, schema: JsonObject | undefined): boolean {
  const { shape } = withoutReference(model.root);
  return schema?.properties === undefined && shape.kind === 'object' && shape.additional === 'unstated';
}

/** Whether `{}` is a valid input, so that the argument may be left out. */
export function isOptional(node: SchemaNode): boolean {
  const { shape } = withoutReference(node);
  if (shape.kind === 'unknown') return true;
  if (shape.kind === 'object') return ![...shape.properties.values()].some((property) => property.isRequired);
  if (shape.kind === 'union') return shape.options.some(isOptional);
  return shape.kind === 'intersection' && shape.parts.every(isOptional);
}
