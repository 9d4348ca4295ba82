import { namespacesOf } from '../../catalog/namespaces.js';
import { serverModules } from '../../catalog/package-names.js';
import { allServerIds, type CatalogServer, type CatalogSnapshot } from '../../catalog/snapshot.js';

/*
 * Finds the servers that a program is about to use in its text: the host does not parse sources. An extra name costs a wait for a
 * server that is starting. A missed name is made up for when the server is used.
 */

/** The servers among `candidates` that a source names, in the syntax of any contract. */
export function serversNamedIn(
  source: string,
  snapshot: CatalogSnapshot,
  candidates: readonly CatalogServer[],
): CatalogServer[] {
  if (candidates.length === 0) return [];
  const namespaces = new Map(namespacesOf(snapshot).map(({ name, server }) => [server.id, name]));
  const modules = serverModules(allServerIds(snapshot));
  const hasBareNames = BARE_NAMES.test(source);
  return candidates.filter(({ id, path }) => {
    const names = new Set([id, path, namespaces.get(id) ?? path, modules.get(id) ?? path]);
    return [...names].some((name) => isNamed(source, name, hasBareNames));
  });
}

/** Whether a source looks for servers that it does not name: by a list, a search, or computed names. */
export function usesDiscovery(source: string): boolean {
  return LOOKS_AROUND.test(source);
}

/** `from servers import github`, and `const { github } = mcp`: names without quotes or a prefix. */
const BARE_NAMES = /\bservers\s+import\b|[=(,:]\s*mcp\b(?!\s*(?:\?\.|\.|\[))/;

const LOOKS_AROUND =
  /\b(?:searchTools|search_tools|listServers)\b|\bimport\s*\(\s*(?!(['"])[^'"\n]*\1\s*[),])|@codemode\/servers\/(?:\$\{|['"`]\s*\+)|\bmcp\s*(?:\?\.)?\[\s*(?!['"])|\b(?:in|of)\s+mcp\b|\b(?:keys|values|entries)\s*\(\s*mcp\b|\bimport_module\b|\b__import__\b/;

/**
 * In quotes or a path (`'github'`, `"mcp:github"`, `./servers/github/index.js`), or as a member (`mcp.github`, `servers.github`). A
 * word of the language that is also a server's name (`time`, `fetch`) does not match.
 */
function isNamed(source: string, name: string, hasBareNames: boolean): boolean {
  if (!source.includes(name)) return false;
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const inText = `["'\`/:]${literal}(?=["'\`/.:])`;
  const asMember = `\\b(?:mcp|servers)\\s*(?:\\?\\.|\\.)\\s*${literal}(?![\\w$])`;
  const bare = hasBareNames ? `|(?<![\\w$])${literal}(?![\\w$])` : '';
  return new RegExp(`${inText}|${asMember}${bare}`).test(source);
}
