import { serverDeclarations } from '../../catalog/briefing/server-declarations.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import {
  type CatalogServer,
  type CatalogSnapshot,
  type CatalogTool,
  notForCode,
  seenServer,
  toolNamed,
} from '../../catalog/snapshot.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CallReply, GuestError, ModuleExport, VirtualModule } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { nearest } from '../../lib/text/nearest.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import { TOOL_DETAILS, type ToolDetail, toolDefinition } from './tool-definition.js';

/** `@codemode/discovery`: what programs can ask about servers and tools. Answers come from the program's own snapshot. */

const SPEC_VERSION = '1.0.0';
const TARGET = '@discovery/';
export const SEARCH_TOOLS = `${TARGET}searchTools`;
const FUNCTIONS = ['listServers', 'describeServer', 'listTools', 'getTool', 'getTypes', 'searchTools'] as const;
type FunctionName = (typeof FUNCTIONS)[number];

/** Limit for a question about the catalog: names, or a description of what a tool should do. */
const MAX_QUESTION_CHARACTERS = 64 * 1024;
/** Longer queries are cut. The answer repeats the query. */
const MAX_QUERY_CHARACTERS = 4_000;
const MAX_HITS = 100;
const DEFAULT_HITS = 10;

export const DISCOVERY_MODULE: VirtualModule = {
  specifier: '@codemode/discovery',
  exports: [
    { kind: 'value', name: 'specVersion', value: SPEC_VERSION },
    ...FUNCTIONS.map((name): ModuleExport => ({ kind: 'call', name, target: TARGET + name })),
  ],
};

export function isDiscovery(target: string): boolean {
  return target.startsWith(TARGET);
}

/** A question of megabytes is a mistake or an attack. It is refused by its length. */
export function questionTooLong(argumentsJson: string): GuestError | undefined {
  if (argumentsJson.length <= MAX_QUESTION_CHARACTERS) return undefined;
  return {
    errorClass: 'SchemaValidationError',
    message: `the question has ${argumentsJson.length} characters; at most ${MAX_QUESTION_CHARACTERS} are read`,
    hint: 'Ask for tools by name, or in a few words.',
  };
}

/** An invalid question is an error of the program, with the correct question in the hint. */
class Refusal extends Error {
  readonly error: GuestError;
  constructor(errorClass: string, message: string, hint: string, fields?: JsonObject) {
    super(message);
    this.error = { errorClass, message, hint, ...omitUndefined({ fields }) };
  }
}

/** The server that a question is about, if it names one. */
export function serverAskedAbout(
  [first, second]: readonly JsonValue[],
  snapshot: CatalogSnapshot,
): CatalogServer | undefined {
  const only = isJsonObject(second) ? second.serverId : undefined;
  const name = typeof only === 'string' ? only : first;
  return typeof name === 'string' ? findServer(name, snapshot) : undefined;
}

export function answerDiscovery(
  target: string,
  input: readonly JsonValue[],
  snapshot: CatalogSnapshot,
  catalog: Catalog,
  observedTypeOf: ObservedTypeOf,
): CallReply {
  try {
    return {
      ok: true,
      json: JSON.stringify(
        answer(target.slice(TARGET.length) as FunctionName, input, snapshot, catalog, observedTypeOf),
      ),
    };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, error: error.error };
    throw error;
  }
}

function answer(
  name: FunctionName,
  [first, second]: readonly JsonValue[],
  snapshot: CatalogSnapshot,
  catalog: Catalog,
  observedTypeOf: ObservedTypeOf,
): JsonValue {
  switch (name) {
    case 'listServers':
      // The diagnostics report servers that are starting or down, with the reason.
      return snapshot.servers.filter(({ isAvailable }) => isAvailable).map(serverInfo);
    case 'describeServer': {
      const server = answering(serverOf(first, snapshot, name), catalog);
      return {
        ...serverInfo(server),
        ...omitUndefined({ description: server.description, version: server.version }),
      };
    }
    case 'listTools': {
      const { detail } = optionsOf(second, 'listTools');
      return answering(serverOf(first, snapshot, name), catalog).tools.map((tool) =>
        toolDefinition(tool, detail, observedTypeOf),
      );
    }
    case 'getTool': {
      const found = toolOf(answering(serverOf(first, snapshot, name), catalog), second, name);
      const observed = found.tool.outputSchema === undefined ? observedTypeOf(found.tool) : undefined;
      const definition = toolDefinition(found, 'full', observedTypeOf);
      return { ...definition, ...omitUndefined({ observedOutputType: observed }) };
    }
    case 'getTypes':
      return typesOf(answering(serverOf(first, snapshot, name), catalog), second, observedTypeOf);
    case 'searchTools':
      return search(first, optionsOf(second, 'searchTools'), snapshot, catalog, observedTypeOf);
    default:
      throw new Refusal(
        'CodemodeError',
        `there is no discovery function ${String(name)}`,
        `Use one of: ${FUNCTIONS.join(', ')}.`,
      );
  }
}

/** TypeScript declarations of a server: of all its tools, or of the named ones. */
function typesOf(server: CatalogServer, names: JsonValue | undefined, observedTypeOf: ObservedTypeOf): string {
  if (names === undefined || names === null) return serverDeclarations(server, 'full', observedTypeOf);
  if (!Array.isArray(names)) throw wrongType('getTypes', 'toolNames', 'an array of tool names', names);
  const tools = new Set(names.map((name) => toolOf(server, name, 'getTypes')));
  return serverDeclarations({ ...server, tools: [...tools] }, 'full', observedTypeOf);
}

function search(
  query: JsonValue | undefined,
  options: Options,
  snapshot: CatalogSnapshot,
  catalog: Catalog,
  observedTypeOf: ObservedTypeOf,
): JsonValue {
  if (typeof query !== 'string') throw wrongType('searchTools', 'query', 'a string', query);
  if (query.length > MAX_QUERY_CHARACTERS)
    throw new Refusal(
      'SchemaValidationError',
      `searchTools: the query has ${query.length} characters; at most ${MAX_QUERY_CHARACTERS} are read`,
      'Say in a few words what the tool should do.',
    );
  const only =
    options.serverId === undefined
      ? undefined
      : answering(serverOf(options.serverId, snapshot, 'searchTools'), catalog);
  const hits = catalog.search(query, { limit: options.limit, ...omitUndefined({ serverId: only?.id }) }, snapshot);
  const results = hits.flatMap(({ tool }) => {
    const server = snapshot.servers.find(({ id }) => id === tool.serverId);
    const found = server === undefined ? undefined : snapshot.toolByTarget.get(`${server.path}/${tool.name}`);
    if (found === undefined) return [];
    return [{ serverId: found.server.path, ...toolDefinition(found, options.detail, observedTypeOf) }];
  });
  return { query, results };
}

function serverInfo({ path, name }: CatalogServer): JsonObject {
  return { serverId: path, serverName: name, capabilities: [path, `mcp:${path}`] };
}

/** Finds a server by the name that programs use. The user's own name for it and the prefix `mcp:` are accepted too. */
export function findServer(name: string, snapshot: CatalogSnapshot): CatalogServer | undefined {
  const bare = name.replace(/^mcp:/, '');
  return seenServer(
    snapshot,
    ({ serverByPath, servers }) => serverByPath.get(bare) ?? servers.find(({ id }) => id === bare),
  );
}

/** Throws if the server's tools are unknown: an empty list would say that it has none. */
function answering(server: CatalogServer, catalog: Catalog): CatalogServer {
  const problem = serverProblem(server);
  if (problem === undefined) return server;
  const message = server.isStarting === true ? `${server.path}: ${catalog.startingNote(server.id)}` : problem.message;
  throw new Refusal(problem.errorClass, message, problem.hint, problem.fields);
}

/** The error for a program that uses a server whose tools are unknown. The same for the same snapshot. */
export function serverProblem({ path, isStarting, problem, tools }: CatalogServer): GuestError | undefined {
  if (tools.length > 0 || (problem === undefined && isStarting !== true)) return undefined;
  return {
    errorClass: 'ServerNotFoundError',
    ...(problem === undefined
      ? { message: `${path} is still starting`, hint: STARTING_HINT }
      : { message: `${path} is not available: ${problem}`, hint: DOWN_HINT }),
    fields: { serverId: path },
  };
}

/** Advice about a server that is still starting, and about one that is down. */
export const STARTING_HINT = 'Run the program again in a few seconds.';
export const DOWN_HINT = 'Ask the user to check it with: codemode servers';

function serverOf(serverId: JsonValue | undefined, snapshot: CatalogSnapshot, caller: string): CatalogServer {
  if (typeof serverId !== 'string') throw wrongType(caller, 'serverId', 'a string', serverId);
  const server = findServer(serverId, snapshot);
  if (server !== undefined) return server;
  const known = snapshot.servers.flatMap((each) => (serverProblem(each) === undefined ? [each.path] : []));
  const close = nearest(serverId, known, 3);
  const later = snapshot.servers.some(({ isStarting }) => isStarting === true) ? STARTING_HINT : DOWN_HINT;
  const hint =
    close.length > 0
      ? `Did you mean ${close.map((each) => JSON.stringify(each)).join(' or ')}?`
      : known.length === 0
        ? (snapshot.notice ?? later)
        : `Use one that is connected: ${known.slice(0, 30).join(', ')}.`;
  throw new Refusal('ServerNotFoundError', `there is no server ${JSON.stringify(serverId)}`, hint, { serverId });
}

function toolOf(server: CatalogServer, toolName: JsonValue | undefined, caller: string): CatalogTool {
  if (typeof toolName !== 'string') throw wrongType(caller, 'toolName', 'a string', toolName);
  const found = toolNamed(toolName, server) ?? server.tools.find(({ tool }) => visibleLine(tool.name) === toolName);
  if (found !== undefined) return found;
  const fields = { serverId: server.path, toolName };
  const direct = notForCode(toolName, server);
  if (direct !== undefined) throw new Refusal('ToolNotFoundError', direct.message, direct.hint, fields);
  const names = server.tools.map(({ tool }) => visibleLine(tool.name));
  const close = nearest(toolName, names, 3);
  const hint =
    close.length > 0
      ? `Did you mean ${close.map((each) => JSON.stringify(each)).join(' or ')}?`
      : `Use listTools(${JSON.stringify(server.path)}) to see what there is.`;
  throw new Refusal('ToolNotFoundError', `${server.path} has no tool ${JSON.stringify(toolName)}`, hint, fields);
}

interface Options {
  readonly detail: ToolDetail;
  readonly limit: number;
  readonly serverId: string | undefined;
}

function optionsOf(value: JsonValue | undefined, caller: string): Options {
  if (value === undefined || value === null) return { detail: 'description', limit: DEFAULT_HITS, serverId: undefined };
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(caller, 'options', 'an object', value);
  const { detail = 'description', limit = DEFAULT_HITS, serverId } = value;
  if (!TOOL_DETAILS.includes(detail as ToolDetail)) {
    throw new Refusal(
      'SchemaValidationError',
      `${caller}: detail is ${JSON.stringify(detail)}`,
      `Use one of: ${TOOL_DETAILS.map((each) => JSON.stringify(each)).join(', ')}.`,
    );
  }
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) {
    throw new Refusal(
      'SchemaValidationError',
      `${caller}: limit is ${JSON.stringify(limit)}`,
      `Use a whole number of at least 1; there are never more than ${MAX_HITS} results.`,
    );
  }
  if (serverId !== undefined && typeof serverId !== 'string') throw wrongType(caller, 'serverId', 'a string', serverId);
  return { detail: detail as ToolDetail, limit: Math.min(limit, MAX_HITS), serverId };
}

function wrongType(caller: string, name: string, expected: string, received: JsonValue | undefined): Refusal {
  const shown = JSON.stringify(received)?.slice(0, 80) ?? 'nothing';
  return new Refusal(
    'SchemaValidationError',
    `${caller}: ${name} must be ${expected}, not ${shown}`,
    `Pass ${expected} as ${name}.`,
  );
}
