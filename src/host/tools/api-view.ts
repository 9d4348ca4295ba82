import { byUsefulness } from '../../catalog/briefing/server-index.js';
import { commentLine } from '../../catalog/declarations/doc-comment.js';
import { declareApi } from '../../catalog/declarations/typescript/unified-api.js';
import { type Namespace, namespacesOf } from '../../catalog/namespaces.js';
import type { ToolView } from './tool-view.js';

export type { Namespace } from '../../catalog/namespaces.js';

/** The tools as methods of namespaces, for contracts in which they are. */
export function apiNamespacesOf({ forCode }: ToolView): readonly Namespace[] {
  return namespacesOf(forCode);
}

/** `export interface UnifiedAPI` over all of them, or over those of some servers. */
export function apiDeclarationsOf(view: ToolView, serverIds?: readonly string[], generatedAt?: Date): string {
  const namespaces = apiNamespacesOf(view).filter(
    ({ server: { id, path } }) => serverIds === undefined || serverIds.includes(id) || serverIds.includes(path),
  );
  return declareApi(namespaces, { observedTypeOf: view.observedTypeOf, generatedAt });
}

/** A line for each namespace with its tools, the most useful first. */
export function apiIndexOf(view: ToolView): string {
  const namespaces = new Map(apiNamespacesOf(view).map((namespace) => [namespace.server, namespace]));
  return byUsefulness([...namespaces.keys()], view.usedBefore)
    .map((server) => namespaces.get(server) as Namespace)
    .map(({ name, server, methods }) => {
      const tools = methods.map(({ name, tool }) => `${name}${tool.asks === true ? ' @asks' : ''}`).join(', ');
      const none = server.isStarting === true ? STARTING : (server.problem ?? 'no tools');
      return `- mcp.${name} ("mcp:${commentLine(server.id, 80)}"): ${tools === '' ? none : tools}`;
    })
    .join('\n');
}

const STARTING = 'starting; call its tools, the run waits for it';

/** Namespaces whose tools are not known yet, for a text that declares those that are. */
export function startingNamespaces(view: ToolView): string {
  const starting = apiNamespacesOf(view).filter(({ server }) => server.isStarting === true);
  if (starting.length === 0) return '';
  const names = starting.map(({ name, server }) => `mcp.${name} ("mcp:${commentLine(server.id, 80)}")`);
  return `\n\nStill starting: ${names.join(', ')}. Code that names one waits for it.`;
}
