import { camelCaseNames, serverModules, snakeCaseNames } from '../../catalog/package-names.js';
import { packagesFor, packagesNamedIn } from '../../catalog/packages/packages.js';
import {
  allServerIds,
  allToolNames,
  type CatalogServer,
  type CatalogSnapshot,
  type CatalogTool,
} from '../../catalog/snapshot.js';
import type { JsonObject } from '../../domain/json.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import { indexOf, type ToolView } from '../tools/tool-view.js';

/** The files in /workspace beside a program: a module for each server that it may use. */
export function packageFiles(
  source: string,
  snapshot: CatalogSnapshot,
  language: ProcessLanguage,
): ReadonlyMap<string, string> {
  return packagesNamedIn(source, packagesFor(snapshot, language));
}

/** The name under which programs import a server. */
export function moduleOf({ id }: CatalogServer, snapshot: CatalogSnapshot): string {
  return modulesOf(snapshot).get(id) as string;
}

/** The server that programs import under this name. */
export function serverOfModule(module: string, snapshot: CatalogSnapshot): CatalogServer | undefined {
  const modules = modulesOf(snapshot);
  return snapshot.servers.find(({ id }) => modules.get(id) === module);
}

/** Cached: needed for every call, and a snapshot never changes. */
const modulesBySnapshot = new WeakMap<CatalogSnapshot, ReadonlyMap<string, string>>();

function modulesOf(snapshot: CatalogSnapshot): ReadonlyMap<string, string> {
  const modules = modulesBySnapshot.get(snapshot) ?? serverModules(allServerIds(snapshot));
  modulesBySnapshot.set(snapshot, modules);
  return modules;
}

/** The name of a tool's function in its server's module. */
export function functionOf({ tool, server }: CatalogTool, language: ProcessLanguage): string {
  return functionNames(server, language).get(tool.name) as string;
}

/** Cached: needed for every call, and a server of a snapshot never changes. */
const namesByServer = new WeakMap<CatalogServer, Partial<Record<ProcessLanguage, ReadonlyMap<string, string>>>>();

function functionNames(server: CatalogServer, language: ProcessLanguage): ReadonlyMap<string, string> {
  const known = namesByServer.get(server) ?? {};
  const names = known[language] ?? namesIn(language)(allToolNames(server));
  namesByServer.set(server, { ...known, [language]: names });
  return names;
}

function namesIn(language: ProcessLanguage) {
  return language === 'node' ? camelCaseNames : snakeCaseNames;
}

/**
 * The index of servers and tools with the names that programs write: a server's module, then its id if that differs; a tool's
 * function, or one name per language, in order, if they differ: `getUser|get_user`.
 */
export function programIndex(
  view: ToolView,
  languages: readonly ProcessLanguage[],
  maximumCharacters?: number,
): string {
  const modules = modulesOf(view.forCode);
  const namesOf = (server: CatalogServer) => languages.map((language) => functionNames(server, language));
  return indexOf(view, maximumCharacters, {
    serverName: ({ id }) => {
      const module = modules.get(id) ?? id;
      return module === id || !PLAIN_ID.test(id) ? module : `${module} = ${id}`;
    },
    toolName: ({ tool, server }) => [...new Set(namesOf(server).map((names) => names.get(tool.name)))].join('|'),
    use: 'import it',
    rest: '',
  });
}

const PLAIN_ID = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** The names under which programs import servers, and the function names of a server by its module name. */
export function importedNames(
  snapshot: CatalogSnapshot,
  language: ProcessLanguage,
): { readonly modules: readonly string[]; functionsOf(module: string): readonly string[] } {
  const modules = modulesOf(snapshot);
  return {
    modules: snapshot.servers.flatMap(({ id }) => modules.get(id) ?? []),
    functionsOf: (module) => {
      const server = serverOfModule(module, snapshot);
      return server === undefined ? [] : server.tools.map((tool) => functionOf(tool, language));
    },
  };
}

/** The names a program writes to call a tool: `module` and `function`, or `functions` by language if there are several. */
export function programNames(
  snapshot: CatalogSnapshot,
  languages: readonly ProcessLanguage[],
): (tool: CatalogTool) => JsonObject {
  const modules = modulesOf(snapshot);
  return ({ tool, server }) => {
    const functions = languages.map((each) => [each, functionNames(server, each).get(tool.name) ?? ''] as const);
    const [only] = functions;
    const module = modules.get(server.id) ?? '';
    return functions.length === 1 && only !== undefined
      ? { module, function: only[1] }
      : { module, functions: Object.fromEntries(functions) };
  };
}

/** The TypeScript declarations of one server's module. */
export function typesOf(server: CatalogServer, { forCode }: ToolView): string {
  return packagesFor(forCode, 'node').get(`servers/${moduleOf(server, forCode)}/index.d.ts`) ?? '';
}
