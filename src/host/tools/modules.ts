import type { CatalogServer, CatalogSnapshot } from '../../catalog/snapshot.js';
import type { JsonObject } from '../../domain/json.js';
import type { ModuleExport, VirtualModule } from '../../domain/run.js';
import type { ScriptHead } from '../../domain/script.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { RESULTS_MODULE } from '../runs/kept-results.js';
import { SCRIPTS_MODULE, scriptsModule } from '../scripts/scripts-module.js';
import { DISCOVERY_MODULE, serverProblem } from './discovery.js';

/** The modules a program may import, for one snapshot of the catalog. The same snapshot gives the same array. */
const known = new WeakMap<CatalogSnapshot, readonly VirtualModule[]>();

/** The same with a function for each of these scripts. */
export function modulesWith(snapshot: CatalogSnapshot, scripts: readonly ScriptHead[]): readonly VirtualModule[] {
  const modules = modulesOf(snapshot);
  if (scripts.length === 0) return modules;
  return modules.map((each) => (each === SCRIPTS_MODULE ? scriptsModule(scripts) : each));
}

export function modulesOf(snapshot: CatalogSnapshot): readonly VirtualModule[] {
  let modules = known.get(snapshot);
  if (modules === undefined) {
    modules = [DISCOVERY_MODULE, RESULTS_MODULE, SCRIPTS_MODULE, ...snapshot.servers.map(serverModule)];
    known.set(snapshot, modules);
  }
  return modules;
}

function serverModule(server: CatalogServer): VirtualModule {
  const problem = serverProblem(server);
  const specifier = `@codemode/servers/${server.path}`;
  if (problem !== undefined) return { specifier, exports: [], problem };
  const tools = server.tools.map(
    ({ exportName, target }): ModuleExport => ({ kind: 'call', name: exportName, target }),
  );
  return {
    specifier,
    exports: [...tools, { kind: 'value', name: '__meta__', value: metaOf(server) }],
  };
}

function metaOf({ path, name, version, tools }: CatalogServer): JsonObject {
  return {
    serverId: path,
    serverName: name,
    ...omitUndefined({ serverVersion: version }),
    tools: tools.map(({ tool, exportName }) => ({
      toolName: tool.name,
      exportName,
      ...omitUndefined({ description: tool.description?.slice(0, MAX_META_DESCRIPTION) }),
    })),
  };
}

/** `__meta__` is for finding a tool; `getTool` has the whole description. */
const MAX_META_DESCRIPTION = 200;
