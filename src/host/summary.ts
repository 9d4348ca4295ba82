import type { ReceivedData } from '../broker/policy/flow.js';
import type { CatalogServer } from '../catalog/snapshot.js';
import type { CallerId, Outcome } from '../domain/execution.js';
import type { JsonObject } from '../domain/json.js';
import { findServer, serverProblem } from './discovery.js';
import { looksAround, serversNamedIn } from './named-servers.js';
import type { KeptResults } from './results.js';
import type { Presentation, RunSummary, ServerTypes, UnavailableServer } from './run.js';
import { briefDeclarationsOf, type ToolView } from './tool-view.js';

/** Servers whose types come with one answer. */
const MAX_DECLARED_AT_ONCE = 3;
/** Tokens that all servers may cost that are announced with one answer. */
const ANNOUNCED_TOKENS = 6_000;

/**
 * The types of a server come with the first answer that has to do with it, unless the client has them: the tools may have
 * been too many to be declared up front, or the server was still starting.
 */
export function firstDeclarations(
  view: ToolView,
  source: string,
  requested: readonly string[],
  isDeclared: (path: string) => boolean,
): ServerTypes[] {
  const used = view.forCode.servers.filter(
    (server) =>
      server.tools.length > 0 &&
      (source.includes(`@codemode/servers/${server.path}`) ||
        requested.some((name) => findServer(name, view.forCode) === server)),
  );
  const fresh = used.filter(({ path }) => !isDeclared(path)).slice(0, MAX_DECLARED_AT_ONCE);
  return fresh.map((server) => ({ path: server.path, text: briefDeclarationsOf(server, source, view) }));
}

/** The types of servers that came after the client's list of tools was made, within a common budget. */
export function lateDeclarations(late: readonly CatalogServer[], view: ToolView): ServerTypes[] {
  const budgetTokens = Math.floor(ANNOUNCED_TOKENS / Math.max(1, late.length));
  return late.map((server) => ({
    path: server.path,
    text: briefDeclarationsOf(server, '', view, budgetTokens),
    isNew: true,
  }));
}

/** What of an outcome is handed over: media apart, and what is still too large kept for a later run. */
export function handOver(
  outcome: Outcome,
  { separateMedia }: Presentation,
  maxResultBytes: number,
  keep: { readonly results: KeptResults; readonly caller: CallerId; readonly received: ReceivedData },
): Pick<RunSummary, 'outcome' | 'media' | 'keptResult'> {
  if (outcome.status === 'failed' || Buffer.byteLength(outcome.resultJson) <= maxResultBytes) return { outcome };
  const separate = separateMedia?.(outcome.resultJson);
  const media: { media?: readonly JsonObject[] } = separate === undefined ? {} : { media: separate.media };
  const resultJson = separate?.resultJson ?? outcome.resultJson;
  const bytes = Buffer.byteLength(resultJson);
  const kept = () => ({
    handle: keep.results.keep(keep.caller, resultJson, keep.received),
    bytes,
    mostBytes: maxResultBytes,
  });
  return { outcome: { ...outcome, resultJson }, ...media, ...(bytes <= maxResultBytes ? {} : { keptResult: kept() }) };
}

/** Servers that were asked for or are imported and are not there, with the reason. */
export function missingServers(
  requested: readonly string[],
  source: string,
  view: ToolView,
  startingNote: (serverId: string) => string,
): UnavailableServer[] {
  const names = new Set([...requested, ...brokenServers(source, view), ...startingServers(source, view)]);
  return [...names].flatMap((name) => unavailable(name, view, startingNote));
}

/** Servers that are still starting, and that a program names or may have looked for. */
export function startingServers(source: string, { forCode }: ToolView): string[] {
  const starting = forCode.servers.filter(({ isStarting }) => isStarting === true);
  const meant = looksAround(source) ? starting : serversNamedIn(source, forCode, starting);
  return meant.slice(0, MAX_STARTING).map(({ path }) => path);
}

const MAX_STARTING = 5;

/** Servers that are down or denied, and that a program imports or may have looked for. */
export function brokenServers(source: string, { forCode, hiddenServers }: ToolView): string[] {
  const broken = forCode.servers.filter(({ isAvailable, isStarting }) => !isAvailable && isStarting !== true);
  const imported = [...broken.filter(({ tools }) => tools.length === 0), ...hiddenServers].filter(({ path }) =>
    source.includes(`@codemode/servers/${path}`),
  );
  const meant = LISTS_SERVERS.test(source) ? [...broken.slice(0, MAX_STARTING), ...imported] : imported;
  return meant.map(({ path }) => path);
}

const LISTS_SERVERS = /\blistServers\b/;

function unavailable(
  name: string,
  { forCode: snapshot, hiddenServers }: ToolView,
  startingNote: (serverId: string) => string,
): UnavailableServer[] {
  const server: CatalogServer | undefined = findServer(name, snapshot);
  if (server === undefined) {
    const bare = name.replace(/^mcp:/, '');
    if (hiddenServers.some(({ path, id }) => path === bare || id === bare))
      return [{ name, reason: 'the policy denies all of its tools; go on without it' }];
    const known = snapshot.servers
      .filter((each) => serverProblem(each) === undefined)
      .map(({ path }) => path)
      .slice(0, 30)
      .join(', ');
    const there = known === '' ? 'none' : known;
    return [{ name, reason: `there is no such server; ${snapshot.notice ?? `there are: ${there}`}` }];
  }
  if (server.isStarting === true) return [{ name, reason: startingNote(server.id), isStarting: true }];
  return server.problem === undefined ? [] : [{ name, reason: server.problem }];
}
