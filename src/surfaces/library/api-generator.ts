import { HostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { type ApiTool, declareToolApi } from '../../host/tools/tool-api.js';
import { type TypedMethod, typedApi } from '../../host/tools/typed-api.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
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
    return declareToolApi(read(tools), new Date(), isByHand(tools));
  }

  /** Like `generateAPI`, as data. `types` has what the methods refer to by name; nothing is imported. Throws `bad_input`. */
  defineAPI(tools: readonly UnifiedTool[] | MCPAPIDefinitions): TypeScriptAPIDefinition {
    const given = read(tools);
    const examples = new Map(given.map(({ tool, examples: own = [] }) => [tool, own]));
    const { namespaces, declarations } = typedApi(given, isByHand(tools));
    const defined = namespaces.map(({ name, description, methods }): [string, NamespaceDefinition] => {
      const byName = methods.map((method) => [method.name, methodOf(method, examples.get(method.tool) ?? [])]);
      return [name, { name, description, methods: Object.fromEntries(byName) }];
    });
    const types = [...declarations].map(([name, code]) => [name, { name, code }]);
    return { namespaces: Object.fromEntries(defined), types: Object.fromEntries(types), imports: [] };
  }
}

function read(tools: readonly UnifiedTool[] | MCPAPIDefinitions): ApiTool[] {
  if (isByHand(tools)) return toolsOfDefinitions(tools);
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
        ...omitUndefined({
          outputSchema: ifDefined(outputSchema, (outputSchema) => jsonOfSchema(outputSchema, 'output')),
        }),
        ...(metadata.deprecated === true ? { deprecated: true } : {}),
        tags: metadata.tags,
      },
    };
  });
}

/** Names of types that somebody chose by hand are kept. */
function isByHand(tools: readonly UnifiedTool[] | MCPAPIDefinitions): tools is MCPAPIDefinitions {
  return !Array.isArray(tools);
}

function methodOf(method: TypedMethod, examples: readonly string[]): MethodDefinition {
  const { name, tool, typeOfParameter, returnType } = method;
  const { description = '', inputSchema = {}, deprecated } = tool;
  const properties = isJsonObject(inputSchema.properties) ? inputSchema.properties : {};
  const required = new Set(Array.isArray(inputSchema.required) ? inputSchema.required : []);
  return {
    name,
    description,
    parameters: Object.entries(properties).map(([key, schema]) =>
      parameterOf(key, schema, !required.has(key), typeOfParameter(key)),
    ),
    returnType,
    ...(examples.length === 0 ? {} : { examples: [...examples] }),
    ...(deprecated === true ? { deprecated } : {}),
  };
}

function parameterOf(name: string, schema: JsonValue, optional: boolean, type: TypeReference): ParameterDefinition {
  const { description, default: value } = isJsonObject(schema) ? schema : ({} as JsonObject);
  return {
    name,
    type,
    optional,
    description: typeof description === 'string' ? description : '',
    ...omitUndefined({ default: value }),
  };
}
