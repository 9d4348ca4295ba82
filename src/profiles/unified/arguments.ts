import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';

/**
 * The one argument that a tool takes, from those of a call: one plain object is the input by name, everything else is by
 * position, in the order in which the schema has its properties. What is too much stays, and is refused by its count.
 */
export function arrangeArguments({ inputSchema }: Tool, input: readonly JsonValue[]): readonly JsonValue[] {
  const [only] = input;
  if (input.length === 0 || (input.length === 1 && isJsonObject(only))) return input;
  const properties = isJsonObject(inputSchema?.properties) ? Object.keys(inputSchema.properties) : [];
  // A schema that is not an object takes its one value as it is.
  if (properties.length === 0 || input.length > properties.length) return input;
  const required = new Set(Array.isArray(inputSchema?.required) ? inputSchema.required : []);
  const named = Object.create(null) as JsonObject;
  for (const [index, value] of input.entries()) {
    const name = properties[index] as string;
    // What was left out with `undefined` has become null on its way here.
    if (value !== null || required.has(name)) named[name] = value;
  }
  return [{ ...named }];
}
