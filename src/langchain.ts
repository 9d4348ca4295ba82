import type { ToolServer } from './create-host.js';
import { omitUndefined } from './lib/omit-undefined.js';
import { isZod3, jsonSchemaOfZod3 } from './lib/zod-3.js';
import type { FunctionTool } from './upstream/native/function-tools.js';

/** The part of a LangChain tool that is used here. `tool()`, `DynamicStructuredTool` and `StructuredTool` have it. */
export interface LangChainTool {
  readonly name: string;
  readonly description?: string;
  /** zod or JSON Schema. */
  readonly schema?: unknown;
  readonly tags?: readonly string[] | undefined;
  invoke(input: unknown, config?: { readonly signal?: AbortSignal }): Promise<unknown>;
}

/** LangChain tools as a server: `createHost({ tools: { research: fromLangChain([search, wikipedia]) } })`. */
export function fromLangChain(tools: readonly LangChainTool[]): ToolServer {
  return { source: 'langchain', tools: Object.fromEntries(tools.map((tool) => [tool.name, toFunctionTool(tool)])) };
}

function toFunctionTool(tool: LangChainTool): FunctionTool {
  const { name, description = '', schema, tags } = tool;
  return {
    description: description === '' ? name : description,
    // The tool checks and transforms its input itself. A schema that parses is only read here.
    ...(schema === undefined || schema === null ? {} : { input: readOnly(schema) }),
    ...omitUndefined({ tags }),
    execute: async (input, { signal }) => contentOf(await tool.invoke(input, { signal })),
  };
}

/** The schema as a description only. If it also parsed, its transforms would be applied twice. */
function readOnly(schema: unknown): NonNullable<FunctionTool['input']> {
  if (isZod3(schema)) return jsonSchemaOfZod3(schema, 'input');
  const standard = (schema as { '~standard'?: object } | undefined)?.['~standard'];
  if (standard === undefined) return schema as Readonly<Record<string, unknown>>;
  const validate = (value: unknown) => ({ value });
  return Object.create(schema as object, { '~standard': { value: { ...standard, validate } } }) as never;
}

/** The content of a tool message. Every other value is returned unchanged. */
function contentOf(value: unknown): unknown {
  const message = value as { content?: unknown; lc_serializable?: unknown } | null;
  return typeof message === 'object' && message !== null && 'lc_serializable' in message && 'content' in message
    ? message.content
    : value;
}
