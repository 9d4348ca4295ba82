import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { ToolAnnotations } from '../../domain/tool.js';
import type { NativeCircumstances, NativeTool } from './native-upstream.js';

/**
 * The part of a Standard Schema that is used here: zod 4, Valibot and ArkType have it. `jsonSchema` is that of those
 * which can say what they want in JSON Schema.
 */
export interface ToolSchema<Output = unknown> {
  readonly '~standard': {
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaVerdict<Output> | Promise<SchemaVerdict<Output>>;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
      readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type SchemaVerdict<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A function of your own that programs may call. */
export interface FunctionTool {
  readonly description?: string;
  /** zod, another Standard Schema, or JSON Schema. What a Standard Schema makes of the input is what `execute` gets. */
  readonly input?: ToolSchema | Readonly<Record<string, unknown>>;
  /** Of what it gives back: types for programs, and checked. */
  readonly output?: ToolSchema | Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  readonly deprecated?: boolean;
  readonly tags?: readonly string[];
  /** Text and what can be written in JSON is the answer; what it throws is the failure, by its message. */
  execute(input: JsonObject, circumstances: NativeCircumstances): unknown;
}

/** The same with the type of `execute`'s input taken from its schema: for `defineTool`. */
export interface TypedTool<Input> extends Omit<FunctionTool, 'input' | 'execute'> {
  readonly input: ToolSchema<Input>;
  execute(input: Input, circumstances: NativeCircumstances): unknown;
}

/** A tool as an upstream has it. Throws `bad_input` for what is none. */
export function nativeTool(name: string, tool: FunctionTool): NativeTool {
  if (typeof tool?.execute !== 'function')
    throw new HostError('bad_input', `tool ${JSON.stringify(name)} has no function execute`);
  const { input, output, description, annotations, deprecated, tags } = tool;
  const inputSchema = jsonSchemaOf(name, input, 'input');
  const outputSchema = jsonSchemaOf(name, output, 'output');
  return {
    ...(description === undefined ? {} : { description }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(tags === undefined ? {} : { tags }),
    execute: async (given, circumstances) => {
      const parsed = isToolSchema(input) ? await parse(input, given) : given;
      return tool.execute(parsed as JsonObject, circumstances);
    },
  };
}

export function isToolSchema(schema: unknown): schema is ToolSchema {
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) return false;
  const standard = (schema as Partial<ToolSchema>)['~standard'];
  return typeof standard === 'object' && typeof standard?.validate === 'function';
}

/** Nothing where a schema can only check: its tool takes anything, and says what was wrong. */
function jsonSchemaOf(
  name: string,
  schema: ToolSchema | Readonly<Record<string, unknown>> | undefined,
  io: 'input' | 'output',
): JsonObject | undefined {
  if (schema === undefined) return undefined;
  try {
    const read = isToolSchema(schema) ? fromStandard(schema, io) : schema;
    // A copy, as plain data: what the caller keeps hold of may change.
    const copy = read === undefined ? undefined : (JSON.parse(JSON.stringify(read)) as JsonValue);
    if (copy === undefined || isJsonObject(copy)) return copy;
  } catch (error) {
    throw new HostError('bad_input', `the ${io} of tool ${JSON.stringify(name)} has no JSON Schema`, { cause: error });
  }
  throw new HostError('bad_input', `the ${io} of tool ${JSON.stringify(name)} is neither zod nor JSON Schema`);
}

function fromStandard(schema: ToolSchema, io: 'input' | 'output'): Record<string, unknown> | undefined {
  // zod first: it has words for what it cannot express, where the standard only throws.
  if ('_zod' in schema)
    return z.toJSONSchema(schema as unknown as z.ZodType, { io, unrepresentable: 'any', target: 'draft-2020-12' });
  return schema['~standard'].jsonSchema?.[io]({ target: 'draft-2020-12' });
}

const MAX_ISSUES = 5;

async function parse(schema: ToolSchema, value: JsonObject): Promise<unknown> {
  const verdict = await schema['~standard'].validate(value);
  if (verdict.issues === undefined) return verdict.value;
  const lines = verdict.issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const place = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  throw new Error(lines.join('; '));
}
