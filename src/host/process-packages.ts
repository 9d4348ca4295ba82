import { camelCaseNames, serverModules, snakeCaseNames } from '../catalog/package-names.js';
import { packagesFor, packagesNamedIn } from '../catalog/packages/packages.js';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../catalog/snapshot.js';
import type { ProcessLanguage } from '../domain/process-program.js';
import type { ToolView } from './tool-view.js';

/** What lies in /workspace beside a program: a module for each server that it can have use for. */
export function packageFiles(
  source: string,
  snapshot: CatalogSnapshot,
  language: ProcessLanguage,
): ReadonlyMap<string, string> {
  return packagesNamedIn(source, packagesFor(snapshot, language));
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

/** The TypeScript declarations of one server's module. */
export function typesOf(server: CatalogServer, { forCode }: ToolView): string {
  return packagesFor(forCode, 'node').get(`servers/${moduleOf(server, forCode)}/index.d.ts`) ?? '';
}
