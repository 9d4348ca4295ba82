import { byUsefulness } from '../../catalog/briefing/server-index.js';
import { commentLine } from '../../catalog/declarations/doc-comment.js';
import { declareApi } from '../../catalog/declarations/typescript/unified-api.js';
import { methodOf, type Namespace, namespacesOf } from '../../catalog/namespaces.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { briefingOf, type CatalogTool, signatureOf, type ToolView } from './tool-view.js';

export type { Namespace } from '../../catalog/namespaces.js';

/** The tools as methods of namespaces, for contracts that use namespaces. */
export function apiNamespacesOf({ forCode }: ToolView): readonly Namespace[] {
  return namespacesOf(forCode);
}

/** A method's parameters and result on one line. */
export function methodSignature({ name, tool }: Namespace['methods'][number], view: ToolView): string {
  return signatureOf(tool, name, view);
}

/** `export interface UnifiedAPI` over all namespaces, or over those of some servers. */
export function apiDeclarationsOf(view: ToolView, serverIds?: readonly string[], generatedAt?: Date): string {
  const namespaces = apiNamespacesOf(view).filter(
    ({ server: { id, path } }) => serverIds === undefined || serverIds.includes(id) || serverIds.includes(path),
  );
  return declareApi(namespaces, { observedTypeOf: view.observedTypeOf, generatedAt });
}

/** One line for each namespace with its tools, the most useful first. Optionally with parameter names. */
export function apiIndexOf(view: ToolView, { parameters = false }: { readonly parameters?: boolean } = {}): string {
  const namespaces = new Map(apiNamespacesOf(view).map((namespace) => [namespace.server, namespace]));
  return byUsefulness([...namespaces.keys()], view.usedBefore)
    .map((server) => namespaces.get(server) as Namespace)
    .map(({ name, server, methods }) => {
      const tools = methods
        .map(({ name, tool }) => {
          const taken = parameters ? `(${parameterNames(tool.tool.inputSchema)})` : '';
          return `${name}${taken}${tool.asks === true ? ' @asks' : ''}`;
        })
        .join(', ');
      const none = server.isStarting === true ? STARTING : (server.problem ?? 'no tools');
      return `- mcp.${name} ("mcp:${commentLine(server.id, 80)}"): ${tools === '' ? none : tools}`;
    })
    .join('\n');
}

/**
 * A valid call of a connected read-only tool, and its server. If no tool is read-only, the first that needs no approval, without
 * arguments; undefined if there is none.
 */
export function apiExampleOf(view: ToolView): { readonly call: string; readonly serverId: string } | undefined {
  const { example } = briefingOf(view);
  const tools = view.forCode.servers.flatMap((server) => server.tools);
  const isExample = ({ server, exportName }: CatalogTool) =>
    server.path === example?.path && exportName === example.exportName;
  const read = tools.find(isExample);
  const tool = read ?? tools.find(({ asks }) => asks !== true);
  if (tool === undefined) return undefined;
  const { namespace, method } = methodOf(tool, view.forCode);
  const argument = read === undefined ? '{ /* arguments */ }' : (example?.argument ?? '');
  return { call: `mcp.${namespace}.${method}(${argument})`, serverId: commentLine(tool.server.id, 80) };
}

const MAX_PARAMETERS = 8;

/** In schema order, which is the order of positional arguments. Optional parameters have a question mark. */
function parameterNames(schema: JsonValue | undefined): string {
  const { properties, required } = (isJsonObject(schema) ? schema : {}) as JsonObject;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const needed = new Set(Array.isArray(required) ? required : []);
  const shown = names.slice(0, MAX_PARAMETERS).map((name) => `${commentLine(name, 40)}${needed.has(name) ? '' : '?'}`);
  return [...shown, ...(names.length > MAX_PARAMETERS ? ['...'] : [])].join(', ');
}

const STARTING = 'starting; call its tools, the run waits for it';

/** Namespaces whose tools are not known yet, for a text that declares the known ones. */
export function startingNamespaces(view: ToolView): string {
  const starting = apiNamespacesOf(view).filter(({ server }) => server.isStarting === true);
  if (starting.length === 0) return '';
  const names = starting.map(({ name, server }) => `mcp.${name} ("mcp:${commentLine(server.id, 80)}")`);
  return `Still starting: ${names.join(', ')}. Code that names one waits for it.`;
}
