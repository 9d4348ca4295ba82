import type { CatalogTool } from '../catalog/snapshot.js';
import { isOwnToolName } from '../domain/own-tool-names.js';
import { modelSafeName, withDigest } from '../lib/model-safe-name.js';

/** A tool that the client calls itself, without a program. */
export interface DirectTool {
  /** As it is listed: the tool's own name where that is free and model APIs accept it. */
  readonly name: string;
  /** Other names by which a call finds it: its own spelling, where the listed name had to differ. */
  readonly aliases: readonly string[];
  readonly tool: CatalogTool;
}

/**
 * Gives each tool a name that is unique and that model APIs accept. The names depend on which tools there are, not on the order in
 * which servers list them.
 */
export function nameDirectTools(tools: readonly CatalogTool[], reservedNames: readonly string[]): DirectTool[] {
  const own = tools.map(({ tool }) => modelSafeName(tool.name));
  const isOwnFree = onceIn(own, reservedNames);
  // A name that two servers share, or that is ours or reads like ours, belongs to neither: both get their server's in front.
  const prefixed = tools.map((tool, index) => {
    const name = own[index] ?? '';
    return isOwnFree(name) && !isOwnToolName(name) ? name : modelSafeName(serverAndTool(tool));
  });
  const isFree = onceIn(prefixed, reservedNames);
  const taken = new Set<string>(reservedNames);
  const names = tools.map(({ server, tool }, index) => {
    const wanted = prefixed[index] ?? '';
    const distinct = isFree(wanted) ? wanted : withDigest(wanted, `${server.id}\0${tool.name}`);
    // Digests this short can be made to collide by a server that tries to.
    let name = distinct;
    for (let number = 2; taken.has(name); number++)
      name = withDigest(distinct, `${server.id}\0${tool.name}\0${number}`);
    taken.add(name);
    return name;
  });
  const spellings = tools.map((tool) => {
    const { name } = tool.tool;
    return [...new Set([...(isOwnToolName(name) ? [] : [name]), serverAndTool(tool)])];
  });
  // A spelling that could mean two tools means neither: no server answers for another.
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

/** Says of a name whether it stands in the list exactly once and is not reserved. */
function onceIn(names: readonly string[], reservedNames: readonly string[]): (name: string) => boolean {
  const uses = new Map<string, number>(reservedNames.map((name) => [name, 2]));
  for (const name of names) uses.set(name, (uses.get(name) ?? 0) + 1);
  return (name) => uses.get(name) === 1;
}
