import type { CatalogServer, CatalogTool } from '../../catalog/snapshot.js';
import { isOwnToolName } from '../../domain/own-tool-names.js';
import { foldedName } from '../../lib/text/folded-name.js';
import { modelSafeName, withDigest } from '../../lib/text/model-safe-name.js';

/** A tool that the client calls itself, without a program. */
export interface DirectTool {
  /** The listed name: the tool's own name if that is free and model APIs accept it. */
  readonly name: string;
  /** Other names that find it: its own spelling, if the listed name differs. */
  readonly aliases: readonly string[];
  readonly tool: CatalogTool;
}

/**
 * Gives each tool a unique name that model APIs accept. The names depend on which tools exist, not on the order in which servers
 * list them. A name that starts with a server's name (`github__create_issue`) is reserved for that server's tools, whatever other
 * servers call theirs. `servers` are all servers.
 */
export function nameDirectTools(
  tools: readonly CatalogTool[],
  reservedNames: readonly string[],
  servers: readonly CatalogServer[] = [...new Set(tools.map(({ server }) => server))],
): DirectTool[] {
  const isOfAnother = qualifiedNames(servers);
  // Among the tools of one server an exact name wins: `get_user` is that tool, whatever `get.user` becomes.
  const exact = new Set(tools.map(({ server, tool }) => `${server.id}\0${tool.name}`));
  const own = tools.map(({ server, tool }) => {
    const name = modelSafeName(tool.name);
    return name !== tool.name && exact.has(`${server.id}\0${name}`) ? '' : name;
  });
  const isOwnFree = onceIn(own, ['', ...reservedNames]);
  // A name that two servers share, or that is ours or resembles ours, belongs to neither: both get their server's name as prefix.
  const prefixed = tools.map((tool, index) => {
    const name = own[index] ?? '';
    const isFine = isOwnFree(name) && !isOwnToolName(name) && !isOfAnother(name, tool);
    return isFine ? name : modelSafeName(serverAndTool(tool));
  });
  const isFree = onceIn(prefixed, reservedNames);
  const taken = new Set<string>(reservedNames);
  const names = tools.map(({ server, tool }, index) => {
    const wanted = prefixed[index] ?? '';
    const distinct = isFree(wanted) ? wanted : withDigest(wanted, `${server.id}\0${tool.name}`);
    // A malicious server can make digests this short collide.
    let name = distinct;
    for (let number = 2; taken.has(name); number++)
      name = withDigest(distinct, `${server.id}\0${tool.name}\0${number}`);
    taken.add(name);
    return name;
  });
  const spellings = tools.map((tool) => {
    const { name } = tool.tool;
    const isFine = !isOwnToolName(name) && !isOfAnother(name, tool);
    return [...new Set([...(isFine ? [name] : []), serverAndTool(tool)])];
  });
  // A spelling that could mean two tools is an alias of neither: no server answers for another.
  const isUnambiguous = onceIn(spellings.flat(), [...taken]);
  return tools.map((tool, index) => ({
    name: names[index] ?? '',
    aliases: spellings[index]?.filter(isUnambiguous) ?? [],
    tool,
  }));
}

function serverAndTool({ server, tool }: CatalogTool): string {
  return `${server.path}__${tool.name}`;
}

/** Whether a name reads as that of another server's tool: `github__create_issue`, also with other case or dashes. */
function qualifiedNames(servers: readonly CatalogServer[]): (name: string, tool: CatalogTool) => boolean {
  const owners = new Map<string, Set<string>>();
  for (const { id, path } of servers)
    for (const name of [id, path].map(foldedName)) owners.set(name, (owners.get(name) ?? new Set()).add(id));
  return (name, { server }) => {
    const prefix = /^(.+?)__/su.exec(name)?.[1];
    const ids = prefix === undefined ? undefined : owners.get(foldedName(prefix));
    return ids !== undefined && !(ids.size === 1 && ids.has(server.id));
  };
}

/** Whether a name is in the list exactly once and not reserved. */
function onceIn(names: readonly string[], reservedNames: readonly string[]): (name: string) => boolean {
  const uses = new Map<string, number>(reservedNames.map((name) => [name, 2]));
  for (const name of names) uses.set(name, (uses.get(name) ?? 0) + 1);
  return (name) => uses.get(name) === 1;
}
