import { isListed, readToolPattern } from '../../broker/policy/tool-pattern.js';
import { type CatalogSnapshot, isUnavailable } from '../../catalog/snapshot.js';
import type { CapabilitySet } from '../../domain/capability.js';
import { matchesGlob } from '../../lib/text/glob.js';
import { nearest } from '../../lib/text/nearest.js';

/**
 * Granted names that match no server and no tool. A request with a misspelt name runs, and its author looks for the mistake
 * elsewhere. `isServer`: whether the configuration has a server that the catalog does not show.
 */
export function unknownGrants(
  { mcp }: CapabilitySet,
  { servers }: CatalogSnapshot,
  isServer: (name: string) => boolean,
): string[] {
  if (mcp === undefined) return [];
  const ids = servers.map(({ id }) => id);
  const unknown = mcp.servers
    .filter((name) => !name.includes('*') && !ids.includes(name) && !isServer(name))
    .map((name) => `mcp:${name} grants nothing: there is no server ${JSON.stringify(name)}${meant(name, ids)}`);
  const granted = servers.filter(({ id }) => mcp.servers.some((name) => matchesGlob(name, id)));
  // The tools of a server that has not answered yet are unknown.
  if (granted.length === 0 || granted.some(isUnavailable)) return unknown.slice(0, MAX_NOTES);
  const tools = granted.flatMap((server) => server.tools.map(({ tool }) => tool));
  const names = tools.map(({ name }) => name);
  // `mcp:typo` becomes `typo/*`, and its server is named above.
  const isOfGranted = (entry: string) => {
    const pattern = readToolPattern(entry);
    return pattern === undefined || granted.some(({ id }) => matchesGlob(pattern.server, id));
  };
  const missing = (mcp.tools ?? [])
    .filter((entry) => isOfGranted(entry) && !tools.some((tool) => isListed(entry, tool)))
    .map((entry) => {
      const name = entry.slice(entry.indexOf('/') + 1);
      return `${JSON.stringify(entry)} grants nothing: no granted server has such a tool${meant(name, names)}`;
    });
  return [...unknown, ...missing].slice(0, MAX_NOTES);
}

const MAX_NOTES = 5;

function meant(name: string, candidates: readonly string[]): string {
  const [close] = nearest(name, candidates, 1);
  return close === undefined ? '' : `; did you mean ${JSON.stringify(close)}?`;
}
