import { camelCaseNames, serverModules, snakeCaseNames } from '../catalog/package-names.js';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../catalog/snapshot.js';
import type { ProcessLanguage } from '../domain/process-program.js';

/** What lies in /workspace beside a program: a module for each server. The same snapshot gives the same map. */
export function packageFiles(snapshot: CatalogSnapshot, language: ProcessLanguage): ReadonlyMap<string, string> {
  const files = new Map<string, string>(language === 'python' ? [['servers/__init__.py', '']] : []);
  const modules = serverModules(snapshot.servers.map(({ id }) => id));
  for (const { id, tools } of snapshot.servers) {
    const names = tools.map(({ tool }) => tool.name);
    const functions = language === 'node' ? camelCaseNames(names) : snakeCaseNames(names);
    const lines = [...functions].map(([name, exported]) => {
      const called = `${JSON.stringify(id)}, ${JSON.stringify(name)}`;
      return language === 'node'
        ? `export const ${exported} = (args) => callTool(${called}, args);`
        : `async def ${exported}(arguments=None):\n    return await call_tool(${called}, arguments)\n`;
    });
    const [file, head] =
      language === 'node'
        ? ['index.js', `import { callTool } from '../../client/mcp_client.js';`]
        : ['__init__.py', 'from client.mcp_client import call_tool'];
    files.set(`servers/${modules.get(id)}/${file}`, `${[head, ...lines].join('\n')}\n`);
  }
  return files;
}

/** Under which name programs import a server. */
export function moduleOf({ id }: CatalogServer, { servers }: CatalogSnapshot): string {
  return serverModules(servers.map((each) => each.id)).get(id) as string;
}

/** Under which name a server's module has a tool. */
export function functionOf({ tool, server }: CatalogTool, language: ProcessLanguage): string {
  const names = server.tools.map((each) => each.tool.name);
  return (language === 'node' ? camelCaseNames(names) : snakeCaseNames(names)).get(tool.name) as string;
}
