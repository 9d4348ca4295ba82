import * as z from 'zod';
import { isZod3, jsonSchemaOfZod3, type Zod3Schema } from './zod-3.js';

/**
 * The part of Standard Schema that is used here; zod 4, Valibot and ArkType implement it. `jsonSchema` is present on schemas that
 * can describe themselves in JSON Schema.
 */
export interface ToolSchema<Output = unknown> {
  readonly '~standard': {
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaCheck<Output> | Promise<SchemaCheck<Output>>;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
      readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type SchemaCheck<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema that can check a value itself; a JSON Schema cannot. */
export type CheckingSchema<Output = unknown> = ToolSchema<Output> | Zod3Schema<Output>;

export function isCheckingSchema(schema: unknown): schema is CheckingSchema {
  return isStandard(schema) || isZod3(schema);
}

function isStandard(schema: unknown): schema is ToolSchema {
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) return false;
  const standard = (schema as Partial<ToolSchema>)['~standard'];
  return typeof standard === 'object' && typeof standard?.validate === 'function';
}

/** Its input or output as JSON Schema. Undefined if the schema can only check. */
export function jsonSchemaOf(schema: CheckingSchema, io: 'input' | 'output'): Record<string, unknown> | undefined {
  // zod first: it has a fallback for types it cannot express, while the standard only throws.
  if ('_zod' in schema)
    return z.toJSONSchema(schema as unknown as z.ZodType, { io, unrepresentable: 'any', target: 'draft-2020-12' });
  if (isZod3(schema)) return jsonSchemaOfZod3(schema, io);
  return schema['~standard'].jsonSchema?.[io]({ target: 'draft-2020-12' });
}

const MAX_ISSUES = 5;

/** The parsed value. Throws an Error that says what is wrong and where. */
export async function parseWith(schema: CheckingSchema, value: unknown): Promise<unknown> {
  const verdict = isStandard(schema) ? await schema['~standard'].validate(value) : await parseWithZod3(schema, value);
  if (verdict.issues === undefined) return verdict.value;
  const lines = verdict.issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const place = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  throw new Error(lines.join('; '));
}

async function parseWithZod3(schema: Zod3Schema, value: unknown): Promise<SchemaCheck<unknown>> {
  const parsed = await schema.safeParseAsync(value);
  return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues };
}
