import { exportNames } from '../../catalog/names.js';
import { allServerIds, type CatalogServer, type CatalogSnapshot, type CatalogTool } from '../../catalog/snapshot.js';
import type { ScriptHead } from '../../domain/script.js';
import { scriptAsTool } from './search-scripts.js';

/*
 * The stored scripts as one more server of what a caller sees, for contracts whose programs import no modules of ours. Declarations,
 * search, typed functions and errors are then those of any server. The host runs the scripts itself: no call reaches an upstream.
 */

/** Names for the server. Agents write the first one that no server of the user resembles. */
const NAMES = ['scripts', 'codemode-scripts'];
const DESCRIPTION = 'programs that the user has kept: each is a function';

/** The same snapshot and the same scripts give the same result, because everything made of a snapshot is cached with it. */
export function withScriptsServer(snapshot: CatalogSnapshot, scripts: readonly ScriptHead[]): CatalogSnapshot {
  if (scripts.length === 0) return snapshot;
  const key = JSON.stringify(scripts.map(({ name, version, createdAtMs }) => [name, version, createdAtMs]));
  const known = extended.get(snapshot);
  if (known?.key === key) return known.snapshot;
  const whole = snapshot.whole && withScriptsServer(snapshot.whole, scripts);
  // The server of the whole is the same object: search finds a caller's tools by identity.
  const server = whole?.servers.at(-1) ?? scriptsServer(freeName(allServerIds(snapshot)), scripts);
  const servers = [...snapshot.servers, server];
  const made: CatalogSnapshot = {
    ...snapshot,
    ...(whole === undefined ? {} : { whole }),
    servers,
    serverByPath: new Map([...snapshot.serverByPath, [server.path, server]]),
    toolByTarget: new Map([...snapshot.toolByTarget, ...server.tools.map((tool) => [tool.target, tool] as const)]),
  };
  extended.set(snapshot, { key, snapshot: made });
  return made;
}

const extended = new WeakMap<CatalogSnapshot, { readonly key: string; readonly snapshot: CatalogSnapshot }>();

function scriptsServer(id: string, scripts: readonly ScriptHead[]): CatalogServer {
  const tools: CatalogTool[] = [];
  const server: CatalogServer = {
    ...{ id, path: id, name: id, description: DESCRIPTION },
    ...{ isAvailable: true, holdsScripts: true, tools },
  };
  const names = exportNames(scripts.map(({ name }) => name));
  for (const script of scripts) {
    const tool = { ...scriptAsTool(script), serverId: id };
    tools.push({ tool, exportName: names.get(script.name) as string, target: `${id}/${script.name}`, server });
  }
  return server;
}

/** No contract writes this name for another server, whatever it makes of letters and signs. */
function freeName(serverIds: readonly string[]): string {
  const taken = new Set(serverIds.map(lettersOf));
  const isFree = (name: string) => !taken.has(lettersOf(name));
  const last = NAMES.at(-1) as string;
  let name = NAMES.find(isFree);
  for (let number = 2; name === undefined; number++) if (isFree(`${last}-${number}`)) name = `${last}-${number}`;
  return name;
}

function lettersOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
