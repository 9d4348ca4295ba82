import { HostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { type ApiTool, declareToolApi, groupApiTools } from '../../host/tools/tool-api.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { type MCPAPIDefinitions, toolsOfDefinitions } from './api-definitions.js';
import { isUnifiedTool, serverOfId, type UnifiedTool } from './protocol-adapter.js';
import { jsonOfSchema } from './zod-schema.js';

/** An API as data: what `defineAPI` returns. */
export interface TypeScriptAPIDefinition {
  readonly namespaces: Record<string, NamespaceDefinition>;
  readonly types: Record<string, TypeDefinition>;
  readonly imports: ImportDefinition[];
}

export interface NamespaceDefinition {
  readonly name: string;
  readonly description: string;
  readonly methods: Record<string, MethodDefinition>;
}

export interface MethodDefinition {
  readonly name: string;
  readonly description: string;
  /** In the order in which they are passed by position. */
  readonly parameters: ParameterDefinition[];
  readonly returnType: TypeReference;
  readonly examples?: string[];
  readonly deprecated?: boolean;
}

export interface ParameterDefinition {
  readonly name: string;
  readonly type: TypeReference;
  readonly optional: boolean;
  readonly description: string;
  readonly default?: unknown;
}

/** A TypeScript type. */
export type TypeReference = string;

export interface TypeDefinition {
  readonly name: string;
  readonly code: string;
}

export interface ImportDefinition {
  readonly code: string;
}

/** Generates TypeScript from tools: `export interface UnifiedAPI`, which code calls as `mcp.<namespace>.<tool>`. */
export class TypeScriptAPIGenerator {
  /** Takes tools, or definitions written by hand. The output compiles without changes. Throws `bad_input`. */
  generateAPI(tools: readonly UnifiedTool[] | MCPAPIDefinitions): string {
    return declareToolApi(read(tools), new Date());
  }

  /** Like `generateAPI`, as data. Types are inlined in each method, so nothing is imported. Throws `bad_input`. */
  defineAPI(tools: readonly UnifiedTool[] | MCPAPIDefinitions): TypeScriptAPIDefinition {
    const given = read(tools);
    const examples = new Map(given.map(({ tool, examples: own = [] }) => [tool, own]));
    const namespaces = groupApiTools(given).map(({ name, server, methods }): [string, NamespaceDefinition] => [
      name,
      {
        name,
        description: server.description ?? '',
        methods: Object.fromEntries(
          methods.map((method) => [
            method.name,
            methodOf(method.name, method.tool.tool, examples.get(method.tool.tool)),
          ]),
        ),
      },
    ]);
    return { namespaces: Object.fromEntries(namespaces), types: {}, imports: [] };
  }
}

function read(tools: readonly UnifiedTool[] | MCPAPIDefinitions): ApiTool[] {
  if (!isList(tools)) return toolsOfDefinitions(tools);
  return tools.map((tool, index): ApiTool => {
    if (!isUnifiedTool(tool))
      throw new HostError('bad_input', `tool ${index} is not a UnifiedTool; make it with createTool of an adapter`);
    const { name, description, namespace, inputSchema, outputSchema, metadata } = tool;
    return {
      namespace,
      tool: {
        serverId: serverOfId(tool) ?? namespace,
        name,
        description,
        inputSchema: jsonOfSchema(inputSchema, 'input'),
        ...(outputSchema === undefined ? {} : { outputSchema: jsonOfSchema(outputSchema, 'output') }),
        ...(metadata.deprecated === true ? { deprecated: true } : {}),
        tags: metadata.tags,
      },
    };
  });
}

function isList(tools: readonly UnifiedTool[] | MCPAPIDefinitions): tools is readonly UnifiedTool[] {
  return Array.isArray(tools);
}

function methodOf(name: string, tool: ApiTool['tool'], examples: readonly string[] = []): MethodDefinition {
  const { description = '', inputSchema = {}, outputSchema, deprecated } = tool;
  const properties = isJsonObject(inputSchema.properties) ? inputSchema.properties : {};
  const required = new Set(Array.isArray(inputSchema.required) ? inputSchema.required : []);
  return {
    name,
    description,
    parameters: Object.entries(properties).map(([key, schema]) => parameterOf(key, schema, !required.has(key))),
    returnType: outputSchema === undefined ? 'unknown' : typeText(outputSchema),
    ...(examples.length === 0 ? {} : { examples: [...examples] }),
    ...(deprecated === true ? { deprecated } : {}),
  };
}

function parameterOf(name: string, schema: JsonValue, optional: boolean): ParameterDefinition {
  const { description, default: value } = isJsonObject(schema) ? schema : ({} as JsonObject);
  return {
    name,
    type: typeText(schema),
    optional,
    description: typeof description === 'string' ? description : '',
    ...omitUndefined({ default: value }),
  };
}

const MAX_DEPTH = 4;

/** An abbreviated type; `generateAPI` writes the whole one. */
function typeText(schema: JsonValue, depth = 0): TypeReference {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return 'unknown';
  const { type, items, enum: values, const: value, anyOf, $ref } = schema;
  const all = (parts: readonly JsonValue[]) => [...new Set(parts.map((part) => typeText(part, depth + 1)))].join(' | ');
  if (typeof $ref === 'string') return /^#\/\$defs\/(\w+)$/.exec($ref)?.[1] ?? 'unknown';
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values)) return values.map((each) => JSON.stringify(each)).join(' | ') || 'never';
  if (Array.isArray(anyOf)) return all(anyOf);
  if (Array.isArray(type)) return all(type.map((each) => ({ ...schema, type: each })));
  if (type === 'array') {
    const item = typeText(items ?? {}, depth + 1);
    return /^[\w$]+(\[\])*$/.test(item) ? `${item}[]` : `(${item})[]`;
  }
  if (type === 'integer') return 'number';
  if (type === 'object') return 'Record<string, unknown>';
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'null' ? type : 'unknown';
}
