import type { Catalog } from '../../catalog/catalog.js';
import { namespacesOf } from '../../catalog/namespaces.js';
import type { CatalogServer, CatalogSnapshot } from '../../catalog/snapshot.js';
import { needsOf } from '../../domain/profile-name.js';
import type { Outcome } from '../../domain/run.js';
import { nearest } from '../../lib/text/nearest.js';

/*
 * A program that uses tool names from memory has several wrong, and fails at the first. Reported one by one, each costs the agent
 * another program. So the first failure names all of them, with tools that match their words.
 */

const MAX_TOLD = 4;
const MAX_FITTING = 2;
const MAX_SOURCE_CHARACTERS = 100_000;

/** Adds to a failed outcome the other missing functions that the program calls. */
export function withMissingMembers(
  outcome: Outcome,
  source: string,
  snapshot: CatalogSnapshot,
  { profile, catalog }: { readonly profile: string; readonly catalog: Pick<Catalog, 'search'> },
): Outcome {
  if (outcome.status !== 'failed' || outcome.failure.kind !== 'exception') return outcome;
  if (source.length > MAX_SOURCE_CHARACTERS) return outcome;
  const { failure } = outcome;
  const modules = needsOf(profile).program === 'body' ? inNamespaces(snapshot) : imported(source, snapshot);
  const missing = modules.flatMap((module) =>
    membersOf(module.name, source)
      .filter((member) => !module.members.has(member) && !failure.message.startsWith(`${module.name}.${member} `))
      .map((member) => ({ ...module, member })),
  );
  if (missing.length === 0) return outcome;
  const told = missing.slice(0, MAX_TOLD).map(({ name, member, members, server }) => {
    const close = fitting(member, server, members, snapshot, catalog);
    return `${name}.${member}${close.length === 0 ? '' : ` (${close.join(' or ')}?)`}`;
  });
  const more = missing.length > MAX_TOLD ? `, and ${missing.length - MAX_TOLD} more` : '';
  const also = `Also missing: ${told.join(', ')}${more}.`;
  return { ...outcome, failure: { ...failure, hint: failure.hint === undefined ? also : `${failure.hint} ${also}` } };
}

interface Module {
  /** The text the program writes before a member. */
  readonly name: string;
  readonly server: CatalogServer;
  /** The tool behind each name. */
  readonly members: ReadonlyMap<string, string>;
}

/** The nearest name in spelling, or else the hits for the words of the name. */
function fitting(
  member: string,
  server: CatalogServer,
  members: Module['members'],
  snapshot: CatalogSnapshot,
  catalog: Pick<Catalog, 'search'>,
): string[] {
  const close = nearest(member, [...members.keys()], 1);
  if (close.length > 0) return close;
  const hits = catalog.search(member, { serverId: server.id, limit: MAX_FITTING }, snapshot);
  const names = new Map([...members].map(([name, tool]) => [tool, name]));
  return hits.flatMap(({ tool }) => names.get(tool.name) ?? []);
}

const NAMESPACE_IMPORT = /\*\s*as\s+([\w$]{1,100})\s+from\s*["'`]@codemode\/servers\/([^"'`]{1,200})/g;

/** Servers that were available and whose tools are known. */
function imported(source: string, snapshot: CatalogSnapshot): Module[] {
  return [...source.matchAll(NAMESPACE_IMPORT)].flatMap(([, name = '', path = '']) => {
    const server = snapshot.serverByPath.get(path);
    if (server === undefined || server.tools.length === 0) return [];
    return [{ name, server, members: new Map(server.tools.map(({ exportName, tool }) => [exportName, tool.name])) }];
  });
}

function inNamespaces(snapshot: CatalogSnapshot): Module[] {
  return namespacesOf(snapshot)
    .filter(({ methods }) => methods.length > 0)
    .map(({ name, server, methods }) => ({
      name: `mcp.${name}`,
      server,
      members: new Map(methods.map((method) => [method.name, method.tool.tool.name])),
    }));
}

/** The members that are called, each once. `__meta__` and similar names are not tools. */
function membersOf(name: string, source: string): string[] {
  const pattern = new RegExp(`(?<![\\w$.])${name.replace(/[$.]/g, '\\$&')}\\.([A-Za-z][\\w$]{0,127})\\s*\\(`, 'g');
  return [...new Set([...source.matchAll(pattern)].map(([, member = '']) => member))];
}
