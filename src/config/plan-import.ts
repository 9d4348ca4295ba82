import { basename } from 'node:path';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { ClientFile, DiscoveredServers } from './discover.js';
import type { Environment } from './environment.js';
import { mistakesOf } from './mistakes.js';
import { renderPath } from './path.js';
import { configSchema } from './schema.js';
import { isValidServerName } from './server-schema.js';
import { isObject } from './shape.js';
import { escapeUnknownReferences, variablesIn } from './substitute.js';

export interface PlannedServer {
  /** The name it gets. */
  readonly name: string;
  /** The name it had, where that is another one. */
  readonly renamedFrom?: string;
  readonly from: ClientFile;
  readonly server: JsonObject;
}

export interface LeftOut {
  readonly name: string;
  readonly from: ClientFile;
  readonly reason: string;
}

/** What taking over these servers would come to. */
export interface ImportPlan {
  readonly servers: readonly PlannedServer[];
  readonly leftOut: readonly LeftOut[];
  /** What is odd about the files, one line each, with the file in front. */
  readonly warnings: readonly string[];
  /** Environment variables that the servers refer to, and whether they are set now. */
  readonly variables: readonly { readonly name: string; readonly isSet: boolean }[];
}

/** Decides which servers of which files become ours, under which names. The first file that has a server wins. */
export function planImport(discovered: readonly DiscoveredServers[], environment: Environment): ImportPlan {
  const servers = new Map<string, PlannedServer>();
  const byContent = new Map<string, PlannedServer>();
  const leftOut: LeftOut[] = [];
  for (const from of discovered) {
    for (const [name, value] of Object.entries(from.servers)) {
      const server = escapeUnknownReferences(value) as JsonObject;
      const content = JSON.stringify(canonical(server));
      const same = byContent.get(content);
      const reason =
        same === undefined ? reasonAgainst(server) : `it is the same server as ${same.name} of ${same.from.file}`;
      if (reason !== undefined) {
        leftOut.push({ name, from, reason });
        continue;
      }
      const free = freeName(name, from, servers);
      const planned: PlannedServer = { name: free, from, server, ...(free === name ? {} : { renamedFrom: name }) };
      servers.set(free, planned);
      byContent.set(content, planned);
    }
  }
  const planned = [...servers.values()];
  const variables = [...new Set(planned.flatMap(({ server }) => variablesIn(server)))].sort();
  return {
    servers: planned,
    leftOut,
    warnings: discovered.flatMap(({ file, warnings }) => warnings.map((warning) => `${file}: ${warning}`)),
    variables: variables.map((name) => ({ name, isSet: (environment[name] ?? '') !== '' })),
  };
}

function reasonAgainst(server: JsonObject): string | undefined {
  if (server.disabled === true || server.enabled === false) return 'it is switched off there';
  if (isOurselves(server)) return 'it is codemode itself';
  return problemOfServer(server);
}

/** What the schema says against it. A value that is a reference is known only when it is used. */
function problemOfServer(server: JsonObject): string | undefined {
  const known = Object.entries(server).flatMap(([key, value]): [string, JsonValue][] => {
    if (typeof value !== 'string' || !value.includes('${') || key === 'command') return [[key, value]];
    return key === 'url' ? [[key, 'http://localhost/']] : [];
  });
  const value = { mcpServers: { it: Object.fromEntries(known) } };
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return undefined;
  const [mistake] = mistakesOf(parsed.error, value, new Set());
  const key = renderPath(mistake?.path.slice(2) ?? []);
  return `${key === '' ? '' : `${key}: `}${mistake?.problem ?? 'it is not understood'}`;
}

/** `codemode mcp`, `npx codemode mcp`, `node .../codemode/dist/bin.js mcp`: importing it would be a program calling itself. */
export function isOurselves({ command, args }: JsonObject): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  const at = words.findIndex((word) => /^codemode(@.*)?$/.test(basename(word)) || /codemode.*[\\/]bin\.js$/.test(word));
  return at >= 0 && words.slice(at + 1).some((word) => word === 'mcp' || word === 'serve');
}

/** The name itself; where another server has it, with the client behind it, then with a number. */
function freeName(name: string, { client }: ClientFile, taken: ReadonlyMap<string, unknown>): string {
  const usable = isValidServerName(name) ? name : name.replace(/[\p{C}/]+/gu, '-').slice(0, 100) || 'server';
  if (!taken.has(usable)) return usable;
  const withClient = `${usable}-${client.toLowerCase().replaceAll(' ', '-')}`;
  if (!taken.has(withClient)) return withClient;
  for (let number = 2; ; number += 1) if (!taken.has(`${withClient}-${number}`)) return `${withClient}-${number}`;
}

/** Equal for servers that differ only in the order of their keys, or in saying what goes without saying. */
export function canonical(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([key, child]) => !(key === 'type' && child === 'stdio') && !isEmpty(child))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, child]) => [key, canonical(child)]));
}

function isEmpty(value: JsonValue): boolean {
  return value !== null && typeof value === 'object' && Object.keys(value).length === 0;
}
