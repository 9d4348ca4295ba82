import * as z from 'zod';
import { HostError, isHostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { schemaChecker } from '../../host/tools/schema-problems.js';
import { isCheckingSchema, jsonSchemaOf } from '../../lib/standard-schema.js';
import { plainJson } from './plain-json.js';

/** The part of a zod schema that the contract uses. Zod 3 and zod 4 both have it. */
export interface ZodSchema<Output = unknown> {
  parse(value: unknown): Output;
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Output }
    | { readonly success: false; readonly error: { readonly message: string; readonly issues: readonly ZodIssue[] } };
}

interface ZodIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * A zod 4 schema that accepts what the JSON Schema accepts, with the same checker as for calls. `z.toJSONSchema` returns the JSON
 * Schema as its server wrote it. Throws `bad_input` if the value is not an object.
 */
export function zodFromJsonSchema(json: JsonObject): ZodSchema {
  if (!isJsonObject(json)) throw new HostError('bad_input', 'zodFromJsonSchema takes a JSON Schema: an object');
  const problemsOf = schemaChecker(json);
  const check = z.check<unknown>(({ value, issues }) => {
    for (const { path, message } of problemsWith(problemsOf, value))
      issues.push({ code: 'custom', message, path: [...path], input: value });
  });
  const anything = z.unknown();
  // Not `anything.check(check)`: a schema with a parent is not serialized as its own JSON Schema.
  const schema = anything.clone({ ...anything.def, checks: [check] });
  // A copy each time: zod moves the members of what it gets into its own result.
  schema._zod.toJSONSchema = () => structuredClone(json);
  return schema;
}

function problemsWith(problemsOf: ReturnType<typeof schemaChecker>, value: unknown) {
  try {
    return problemsOf(plainJson(value, 'the value'));
  } catch (error) {
    if (!isHostError(error, 'bad_input')) throw error;
    return [{ path: [], message: error.message }];
  }
}

export function isZodSchema(value: unknown): value is ZodSchema {
  if (typeof value !== 'object' || value === null) return false;
  const { parse, safeParse } = value as Partial<ZodSchema>;
  return typeof parse === 'function' && typeof safeParse === 'function';
}

/** The JSON Schema of what a schema takes (`input`) or returns (`output`). Empty if it cannot be determined. */
export function jsonOfSchema(schema: unknown, io: 'input' | 'output'): JsonObject {
  const read = isCheckingSchema(schema) ? jsonSchemaOf(schema, io) : undefined;
  const json = JSON.parse(JSON.stringify(read ?? {})) as JsonValue;
  return isJsonObject(json) ? json : {};
}
