import { readSchema } from '../../catalog/declarations/schema/schema.js';
import { type SchemaNode, withoutReference } from '../../catalog/declarations/schema/schema-model.js';
import { NamedTypes } from '../../catalog/declarations/typescript/named-types.js';
import type { Tool } from '../../domain/tool.js';
import { type ApiTool, groupApiTools } from './tool-api.js';

/** An API as data, with its types in TypeScript. */
export interface TypedApi {
  readonly namespaces: readonly {
    readonly name: string;
    readonly description: string;
    readonly methods: readonly TypedMethod[];
  }[];
  /** What the types refer to by name: each name with its declaration. */
  readonly declarations: ReadonlyMap<string, string>;
}

export interface TypedMethod {
  readonly name: string;
  readonly tool: Tool;
  readonly typeOfParameter: (name: string) => string;
  readonly returnType: string;
}

/** `namesAll`: definitions are written by their names also where they could be written in place. */
export function typedApi(tools: readonly ApiTool[], namesAll: boolean): TypedApi {
  const groups = groupApiTools(tools).map(({ name, server, methods }) => ({
    name,
    description: server.description ?? '',
    methods: methods.map(({ name, tool: { tool } }) => ({ name, tool, ...schemasOf(tool) })),
  }));
  const methods = groups.flatMap((group) => group.methods);
  const roots = methods.flatMap(({ input, output }) => (output === undefined ? [input] : [input, output]));
  const types = new NamedTypes(roots, namesAll);
  const namespaces = groups.map((group) => ({
    ...group,
    methods: group.methods.map(({ name, tool, input, output }) => ({
      name,
      tool,
      ...typesOf(input, types),
      returnType: output === undefined ? 'unknown' : types.typeOf(output),
    })),
  }));
  return { namespaces, declarations: types.declarations() };
}

function schemasOf({ inputSchema, outputSchema }: Tool) {
  return {
    input: readSchema(inputSchema).root,
    output: outputSchema === undefined ? undefined : readSchema(outputSchema).root,
  };
}

function typesOf(input: SchemaNode, types: NamedTypes): Pick<TypedMethod, 'typeOfParameter'> {
  const { shape } = withoutReference(input);
  const properties = shape.kind === 'object' ? [...shape.properties] : [];
  const written = new Map(properties.map(([name, { node }]) => [name, types.typeOf(node)]));
  return { typeOfParameter: (name) => written.get(name) ?? 'unknown' };
}
