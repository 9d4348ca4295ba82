import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';

/**
 * Maps the arguments of a call to the tool's single input. One plain object is the input by name. Everything else is positional, in
 * the order of the schema's properties. Extra arguments stay, and are refused by their count.
 */
export function arrangeArguments({ inputSchema }: Tool, input: readonly JsonValue[]): readonly JsonValue[] {
  const [only] = input;
  if (input.length === 0 || (input.length === 1 && isJsonObject(only))) return input;
  const properties = isJsonObject(inputSchema?.properties) ? Object.keys(inputSchema.properties) : [];
  // A schema that is not an object takes its one value unchanged.
  if (properties.length === 0 || input.length > properties.length) return input;
  const required = new Set(Array.isArray(inputSchema?.required) ? inputSchema.required : []);
  const named = Object.create(null) as JsonObject;
  for (const [index, value] of input.entries()) {
    const name = properties[index] as string;
    // An argument omitted as `undefined` has become null on its way here.
    if (value !== null || required.has(name)) named[name] = value;
  }
  return [{ ...named }];
}
