import { declareApi } from '../../catalog/declarations/typescript/unified-api.js';
import { memberNames } from '../../catalog/names.js';
import type { Method, Namespace } from '../../catalog/namespaces.js';
import type { CatalogServer, CatalogTool } from '../../catalog/snapshot.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';

/** One tool of an API that is declared without a catalog. */
export interface ApiTool {
  readonly namespace: string;
  /** The purpose of the namespace. */
  readonly about?: string | undefined;
  readonly tool: Tool;
  readonly examples?: readonly string[] | undefined;
}

/** Tools by the names that code writes: `mcp.<namespace>.<method>`. */
export function groupApiTools(tools: readonly ApiTool[]): readonly Namespace[] {
  const groups = new Map<string, ApiTool[]>();
  for (const tool of tools) groups.set(tool.namespace, [...(groups.get(tool.namespace) ?? []), tool]);
  const names = memberNames([...groups.keys()]);
  return [...groups].map(([original, group]) => {
    const server = serverOf(original, group);
    const methodNames = memberNames(group.map(({ tool }) => tool.name));
    const methods = group.map(({ tool }): Method => {
      const name = methodNames.get(tool.name) as string;
      return { name, tool: { tool, exportName: name, target: `${original}/${tool.name}`, server } };
    });
    return { name: names.get(original) as string, server, methods };
  });
}

/** `export interface UnifiedAPI` over these tools, with its generation time. `namesAll`: definitions keep their names. */
export function declareToolApi(tools: readonly ApiTool[], generatedAt: Date, namesAll: boolean): string {
  const examples = new Map(tools.map(({ tool, examples: own = [] }) => [tool, own]));
  return declareApi(groupApiTools(tools), { generatedAt, namesAll, examplesOf: (tool) => examples.get(tool) ?? [] });
}

function serverOf(namespace: string, group: readonly ApiTool[]): CatalogServer {
  const about = group.find((each) => each.about !== undefined)?.about;
  return {
    id: group[0]?.tool.serverId ?? namespace,
    path: namespace,
    name: namespace,
    ...omitUndefined({ description: about }),
    isAvailable: true,
    tools: [] as readonly CatalogTool[],
  };
}
