import { basename, dirname, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { foldedName } from '../../lib/text/folded-name.js';
import type { ClientFile, DiscoveredServers } from '../files/discover.js';
import { renderPath } from '../files/path.js';
import { mistakesOf } from '../schema/mistakes.js';
import { configSchema } from '../schema/schema.js';
import { isObject } from '../schema/server-map.js';
import { isValidServerName } from '../schema/server-schema.js';
import type { Environment } from '../variables/environment.js';
import { type Reference, SecretReferences } from '../variables/secret-references.js';
import { escapeUnknownReferences, variablesIn } from '../variables/substitute.js';
import { type VariableUse, variableUses } from '../variables/variable-uses.js';

export interface PlannedServer {
  /** Its new name. */
  readonly name: string;
  /** Its earlier name, if that was different. */
  readonly renamedFrom?: string;
  readonly from: ClientFile;
  /** The entry to be written to the file. */
  readonly server: JsonObject;
  /** The secrets in it that were replaced by references. */
  readonly references: readonly Reference[];
}

export interface LeftOut {
  readonly name: string;
  readonly from: ClientFile;
  readonly reason: string;
  /** The file already has the same server under the same name. */
  readonly isThere: boolean;
}

/** The result of importing these servers. */
export interface ImportPlan {
  readonly servers: readonly PlannedServer[];
  readonly leftOut: readonly LeftOut[];
  /** Problems of the files, one line each, starting with the file. */
  readonly warnings: readonly string[];
  /** Environment variables that the servers refer to, and whether they are set now. */
  readonly variables: readonly { readonly name: string; readonly isSet: boolean }[];
  /** The user's variables that each server gets, and where. */
  readonly uses: readonly VariableOfServer[];
}

/** A variable of the user whose value reaches a server. */
export interface VariableOfServer extends VariableUse {
  readonly server: string;
  readonly isSet: boolean;
}

/** Why a server of a project's file is not added to a file that is used without confirmation. */
export const OF_THIS_FOLDER = 'it is from a file of this folder; answer on a terminal, or use --project';

/** The file that the servers will be written to. */
export interface ImportTarget {
  readonly file: string;
  /** Whether other people may see it. If so, secrets become references. */
  readonly isShared: boolean;
  /** The servers that are already in it. They stay unchanged. */
  readonly existing?: Readonly<Record<string, JsonValue>>;
  /** Whether servers of a project's files are planned too. They are untrusted until the user decides otherwise. */
  readonly includesProject: boolean;
}

/**
 * Decides which servers of which files are imported, and under which names. The first file that has a server wins, and the user's
 * own files come before those of a project.
 */
export function planImport(
  discovered: readonly DiscoveredServers[],
  environment: Environment,
  target: ImportTarget,
): ImportPlan {
  const existing = target.existing ?? {};
  const secrets = new SecretReferences(environment);
  const servers = new Map<string, PlannedServer>();
  /** By content: a description of where the server already is. */
  const known = new Map(
    Object.entries(existing).map(([name, server]) => [contentOf(server), `${name} of ${target.file}`]),
  );
  const leftOut: LeftOut[] = [];
  for (const from of usersFirst(discovered)) {
    for (const [name, value] of Object.entries(from.servers)) {
      const found = escapeUnknownReferences(value) as JsonObject;
      const same = known.get(contentOf(found));
      const isThere = same === `${name} of ${target.file}`;
      const leaveOut = (reason: string) => leftOut.push({ name, from, reason, isThere });
      const reason = same === undefined ? reasonAgainst(found) : `it is the same server as ${same}`;
      if (reason !== undefined) {
        leaveOut(reason);
        continue;
      }
      const free = freeName(name, from, [...servers.keys()], Object.keys(existing));
      const placed = inItsFolder(found, from, target.file);
      const { server, references } = target.isShared
        ? secrets.replace(placed, free)
        : { server: placed, references: [] };
      const written = known.get(contentOf(server));
      if (written !== undefined) leaveOut(`it is the same server as ${written}`);
      else if (Object.hasOwn(existing, free)) leaveOut(`${target.file} has another server of the name ${free}`);
      else if (from.owner === 'project' && !target.includesProject) leaveOut(OF_THIS_FOLDER);
      else {
        servers.set(free, { name: free, from, server, references, ...(free === name ? {} : { renamedFrom: name }) });
        known.set(contentOf(found), `${free} of ${from.file}`);
      }
    }
  }
  const planned = [...servers.values()];
  const isSet = (name: string) => (environment[name] ?? '') !== '';
  const variables = [...new Set(planned.flatMap(({ server }) => variablesIn(server)))].sort();
  return {
    servers: planned,
    leftOut,
    warnings: discovered.flatMap(({ file, warnings }) => warnings.map((warning) => `${file}: ${warning}`)),
    variables: variables.map((name) => ({ name, isSet: isSet(name) })),
    uses: planned.flatMap(({ name: server, server: entry }) =>
      variableUses(entry).map((use) => ({ ...use, server, isSet: isSet(use.name) })),
    ),
  };
}

function usersFirst(discovered: readonly DiscoveredServers[]): DiscoveredServers[] {
  const of = (owner: ClientFile['owner']) => discovered.filter((each) => each.owner === owner);
  return [...of('user'), ...of('project')];
}

/**
 * If a client starts a server in its project's folder, so do we, even if the configuration is elsewhere: `./server.js` must not
 * become a file of whatever folder codemode is started in.
 */
function inItsFolder(server: JsonObject, { folder }: ClientFile, target: string): JsonObject {
  if (folder === undefined || folder === dirname(target) || typeof server.command !== 'string') return server;
  const { cwd } = server;
  if (cwd === undefined) return { ...server, cwd: folder };
  return typeof cwd === 'string' && !cwd.includes('${') ? { ...server, cwd: resolve(folder, cwd) } : server;
}

function contentOf(server: JsonValue): string {
  return JSON.stringify(canonical(server));
}

function reasonAgainst(server: JsonObject): string | undefined {
  if (server.disabled === true || server.enabled === false) return 'it is disabled there';
  if (isOurselves(server)) return 'it is codemode itself';
  return problemOfServer(server);
}

/** The schema's objection to it, if any. A value that is a reference is known only when it is used. */
export function problemOfServer(server: JsonObject): string | undefined {
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

/** `codemode mcp`, `npx codemode mcp`, `node .../codemode/dist/bin.js mcp`: importing it would make codemode start itself. */
export function isOurselves({ command, args }: JsonObject): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  const at = words.findIndex((word) => /^codemode(@.*)?$/.test(basename(word)) || /codemode.*[\\/]bin\.js$/.test(word));
  return at >= 0 && words.slice(at + 1).some((word) => word === 'mcp' || word === 'serve');
}

/**
 * The name itself. If another server has it, its origin is appended, then a number. A server of a project does not get a look-alike
 * name either. An exact name that is already in the file is kept: the server is then left out.
 */
function freeName(
  name: string,
  { client, owner }: ClientFile,
  planned: readonly string[],
  existing: readonly string[],
): string {
  const usable = isValidServerName(name) ? name : name.replace(/[\p{C}/]+/gu, '-').slice(0, 100) || 'server';
  const lookAlikes = new Set(owner === 'project' ? [...planned, ...existing].map(foldedName) : []);
  const isFree = (candidate: string) => !planned.includes(candidate);
  const isExisting = existing.includes(usable);
  if (isFree(usable) && (isExisting || !lookAlikes.has(foldedName(name)))) return usable;
  const withOrigin = `${usable.trim()}-${owner === 'project' ? 'project' : client.toLowerCase().replaceAll(' ', '-')}`;
  if (isFree(withOrigin)) return withOrigin;
  for (let number = 2; ; number += 1) if (isFree(`${withOrigin}-${number}`)) return `${withOrigin}-${number}`;
}

/** Equal for servers that differ only in the order of their keys or in explicit defaults. */
export function canonical(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([key, child]) => !isUsual(key, child) && !isEmpty(child))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, child]) => [key, canonical(child)]));
}

/** Whether this is an explicit default: OpenCode writes `enabled: true` into every entry. */
function isUsual(key: string, value: JsonValue): boolean {
  return (
    (key === 'type' && value === 'stdio') ||
    (key === 'enabled' && value === true) ||
    (key === 'disabled' && value === false)
  );
}

function isEmpty(value: JsonValue): boolean {
  return value !== null && typeof value === 'object' && Object.keys(value).length === 0;
}
