import { HostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { ToolAnnotations } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { type CheckingSchema, isCheckingSchema, jsonSchemaOf, parseWith } from '../../lib/standard-schema.js';
import type { NativeCallContext, NativeTool } from './native-upstream.js';

/** A function of your own that programs may call. */
export interface FunctionTool {
  readonly description?: string;
  /** zod 3 or 4, another Standard Schema, or JSON Schema. If the schema parses, `execute` gets the parsed input. */
  readonly input?: CheckingSchema | Readonly<Record<string, unknown>>;
  /** The schema of the return value: programs get its type, and values are checked. */
  readonly output?: CheckingSchema | Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  readonly deprecated?: boolean;
  readonly version?: string;
  readonly tags?: readonly string[];
  /** The answer is text or any JSON value. If it throws, the call fails with the error's message. */
  execute(input: JsonObject, context: NativeCallContext): unknown;
}

/** The same, with the type of `execute`'s input taken from its schema: for `defineTool`. */
export interface TypedTool<Input> extends Omit<FunctionTool, 'input' | 'execute'> {
  readonly input: CheckingSchema<Input>;
  execute(input: Input, context: NativeCallContext): unknown;
}

/** Converts a function tool for an upstream. Throws `bad_input` if it is not a valid tool. */
export function nativeTool(name: string, tool: FunctionTool): NativeTool {
  if (typeof tool?.execute !== 'function')
    throw new HostError('bad_input', `tool ${JSON.stringify(name)} has no function execute`);
  const { input, output, description, annotations, deprecated, version, tags } = tool;
  const inputSchema = readSchema(name, input, 'input');
  const outputSchema = readSchema(name, output, 'output');
  return {
    ...omitUndefined({ description, inputSchema, outputSchema, annotations, deprecated, version, tags }),
    execute: async (given, context) => {
      const parsed = isCheckingSchema(input) ? await parseWith(input, given) : given;
      return tool.execute(parsed as JsonObject, context);
    },
  };
}

/** Undefined if a schema can only check: its tool accepts anything, and reports what was wrong. */
function readSchema(
  name: string,
  schema: CheckingSchema | Readonly<Record<string, unknown>> | undefined,
  io: 'input' | 'output',
): JsonObject | undefined {
  if (schema === undefined) return undefined;
  try {
    const read = isCheckingSchema(schema) ? jsonSchemaOf(schema, io) : schema;
    // A copy as plain data, because the caller may change its object later.
    const copy = read === undefined ? undefined : (JSON.parse(JSON.stringify(read)) as JsonValue);
    if (copy === undefined || isJsonObject(copy)) return copy;
  } catch (error) {
    throw new HostError('bad_input', `the ${io} of tool ${JSON.stringify(name)} has no JSON Schema`, { cause: error });
  }
  throw new HostError('bad_input', `the ${io} of tool ${JSON.stringify(name)} is neither zod nor JSON Schema`);
}
