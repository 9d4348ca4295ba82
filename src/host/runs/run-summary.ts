import type { ReceivedData } from '../../broker/policy/flow.js';
import { readingFirst } from '../../catalog/briefing/reading-first.js';
import type { CatalogServer, CatalogTool } from '../../catalog/snapshot.js';
import type { JsonObject } from '../../domain/json.js';
import { needsOf } from '../../domain/profile-name.js';
import type { EndedState, LogEntry, Outcome } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { nearest } from '../../lib/text/nearest.js';
import { findServer, serverProblem } from '../tools/discovery.js';
import { briefDeclarationsOf, briefSignaturesOf, type ToolView } from '../tools/tool-view.js';
import type { KeptResults, ResultOwner } from './kept-results.js';
import { serversNamedIn, usesDiscovery } from './named-servers.js';
import type { Presentation, RunSummary, ServerTypes, UnavailableServer } from './run-types.js';

/** The token budget for the types of all servers in one answer. */
const ANSWERED_TOKENS = 1_600;
/** The token limit for one tool: its signature with a sentence, not its whole description. */
const TOOL_TOKENS = 120;
/** The text around the declarations. */
const FRAME_TOKENS = 130;
/** The token budget for announced servers: names, and the types of a few. The program whose answer they come with did not ask. */
const ANNOUNCED_TOKENS = 800;
/** A larger server is declared as a whole only at first, or if the request names it. */
const MAX_WHOLE_TOOLS = 12;
/** Stands for all tools of a server. */
const ALL_TOOLS = '*';

/**
 * The types of a program's tools come with the first answer that concerns them, unless the client has them: bare signatures if the
 * program succeeded, else with descriptions. A whole server is declared if the request names it or the program names no tool of it.
 * A large server gets as many declarations as fit, named tools first, and only once.
 */
export function firstDeclarations(
  view: ToolView,
  source: string,
  requested: readonly string[],
  isDeclared: (path: string, exportName?: string) => boolean,
  hasFailed: boolean,
): ServerTypes[] {
  const isRequested = (server: CatalogServer) => requested.some((name) => findServer(name, view.forCode) === server);
  const fresh = view.forCode.servers.flatMap((server) => {
    const { path, tools } = server;
    if (tools.length === 0 || !(importsServer(source, path) || isRequested(server))) return [];
    const used = tools.filter(({ exportName }) => isNamedIn(source, exportName));
    const isAsked = isRequested(server);
    // The program printed the types itself, or is looking for the tools that it needs.
    const isLooking = isListedIn(source, path) || SEARCHES.test(source);
    if (used.length === 0 && !isAsked && !hasFailed && isLooking) return [];
    // A large server that was declared before is declared again only if the request names it.
    const isTold = isDeclared(path, isAsked || tools.length <= MAX_WHOLE_TOOLS ? ALL_TOOLS : undefined);
    const isWhole = !isTold && (isAsked || used.length === 0);
    const inOrder = isWhole ? [...new Set([...used, ...readingFirst(tools)])] : used;
    const wanted = inOrder.filter(({ exportName }) => !isDeclared(path, exportName));
    // A known server without new tools is not repeated.
    if (wanted.length === 0 && (used.length > 0 || isDeclared(path))) return [];
    const isBare = wanted.length > 0 && !isWhole && !hasFailed && !isAsked;
    return [{ server, used, wanted, isWhole, isBare }];
  });
  const most = Math.floor(ANSWERED_TOKENS / Math.max(2, fresh.length));
  return fresh.map(({ server, used, wanted, isWhole, isBare }) => {
    if (isBare) {
      // An agent that listed the tools in this program has read them.
      const isFirst = !isDeclared(server.path) && !isListedIn(source, server.path);
      const text = briefSignaturesOf(server, wanted, view, isFirst);
      // Four characters are about a token. A longer declaration is replaced by its name, as elsewhere.
      if (text.length <= 4 * most)
        return { path: server.path, tools: wanted.map(({ exportName }) => exportName), text };
    }
    const budgetTokens = Math.min(most, FRAME_TOKENS + TOOL_TOKENS * Math.max(1, wanted.length));
    const types = typesOf(server, wanted, view, budgetTokens);
    // A named tool that is too large for an answer is not tried again with every answer.
    const named = (isWhole ? used : wanted).map(({ exportName }) => exportName);
    return { ...types, tools: [...types.tools, ...named, ...(isWhole ? [ALL_TOOLS] : [])] };
  });
}

/** The types of servers that appeared after the client got its tool list, within a common budget. */
export function lateDeclarations(late: readonly CatalogServer[], view: ToolView): ServerTypes[] {
  const budgetTokens = Math.floor(ANNOUNCED_TOKENS / Math.max(1, late.length));
  return late.map((server) => {
    const wanted = server.tools.length <= MAX_WHOLE_TOOLS ? server.tools : [];
    return { ...typesOf(server, wanted, view, budgetTokens), isNew: true };
  });
}

function typesOf(
  server: CatalogServer,
  wanted: readonly CatalogTool[],
  view: ToolView,
  budgetTokens: number,
): ServerTypes {
  const { text, declared } = briefDeclarationsOf(server, wanted, view, budgetTokens);
  return { path: server.path, tools: declared.map(({ exportName }) => exportName), text };
}

/** Matches the module of this server, not of one whose name starts with it: `git` is not `github`. */
function importsServer(source: string, path: string): boolean {
  const module = `@codemode/servers/${path}`;
  for (let at = source.indexOf(module); at >= 0; at = source.indexOf(module, at + 1))
    if (!/[a-z0-9-]/.test(source[at + module.length] ?? '')) return true;
  return false;
}

/** `listTools("github")` and `getTypes("github")` return what would come with the answer. */
function isListedIn(source: string, path: string): boolean {
  return [...source.matchAll(/\b(?:listTools|getTypes)\(\s*["'`]([^"'`\n]{1,200})["'`]/g)].some(
    ([, name]) => name === path,
  );
}

const SEARCHES = /\bsearchTools\s*\(/;

/** Matches whole words, so that `get` is not found in `getUser`. */
function isNamedIn(source: string, exportName: string): boolean {
  for (let at = source.indexOf(exportName); at >= 0; at = source.indexOf(exportName, at + 1)) {
    const around = `${source[at - 1] ?? ''}${source[at + exportName.length] ?? ''}`;
    if (!/[\w$]/.test(around)) return true;
  }
  return false;
}

/** The state under which an ended run is recorded. */
export function stateOf(outcome: Outcome): EndedState {
  if (outcome.status === 'completed') return 'succeeded';
  return outcome.failure.kind === 'cancelled' ? 'cancelled' : 'failed';
}

/**
 * A program that returns and logs nothing and never sets its result, although it seems to mean one: `export default`, `const result
 * = ...`.
 */
export function isSilent(
  outcome: Outcome,
  logs: readonly LogEntry[],
  source: string,
  { profile, hasOnlyRead }: { readonly profile: string; readonly hasOnlyRead: boolean },
): boolean {
  if (outcome.status === 'failed' || outcome.resultJson !== 'null' || logs.length > 0) return false;
  return needsOf(profile).program === 'body'
    ? !/\breturn\b/.test(source) && (hasOnlyRead || /=/.test(source))
    : DECLARES_RESULT.test(source) ||
        (!source.includes('__codemode_result__') && (hasOnlyRead || MEANS_RESULT.test(source)));
}

/** A module variable, which is not the global. */
const DECLARES_RESULT = /\b(?:const|let|var)\s+__codemode_result__\b/;

/** A program that only acts has no result on purpose; one that only reads forgot it. */
const MEANS_RESULT = /\bexport\s+default\b|\breturn\b|\b(?:const|let|var)\s+(?:results?|answer|output)\b/;

/** Where a result is kept, its owner, and the servers whose data it contains. */
interface Kept {
  readonly results: KeptResults;
  readonly owner: ResultOwner;
  readonly received: ReceivedData;
}

/**
 * The part of an outcome that goes into the answer: media are separated, and a result that is still too large is kept for a later
 * run.
 */
export function handOver(
  outcome: Outcome,
  { separateMedia }: Presentation,
  maxResultBytes: number,
  keep: Kept,
): Pick<RunSummary, 'outcome' | 'media' | 'keptResult' | 'keptSoFar'> {
  if (outcome.status === 'failed') {
    const { soFarJson, ...rest } = outcome;
    // If answers have no limit, the process ends with its program, and so would the kept value.
    if (soFarJson === undefined || maxResultBytes === Number.POSITIVE_INFINITY) return { outcome: rest };
    const handle = keep.results.keep(keep.owner, soFarJson, keep.received);
    return { outcome, keptSoFar: { handle, bytes: Buffer.byteLength(soFarJson) } };
  }
  if (Buffer.byteLength(outcome.resultJson) <= maxResultBytes) return { outcome };
  const separate = separateMedia?.(outcome.resultJson);
  const media: { media?: readonly JsonObject[] } = omitUndefined({ media: separate?.media });
  const resultJson = separate?.resultJson ?? outcome.resultJson;
  const bytes = Buffer.byteLength(resultJson);
  const kept = () => ({
    handle: keep.results.keep(keep.owner, resultJson, keep.received),
    bytes,
    mostBytes: maxResultBytes,
  });
  return { outcome: { ...outcome, resultJson }, ...media, ...(bytes <= maxResultBytes ? {} : { keptResult: kept() }) };
}

/** Keeps the logs of a run for a later one, as a list of messages. */
export function logKeeper(logs: readonly LogEntry[], maxResultBytes: number, keep: Kept): Pick<RunSummary, 'keepLogs'> {
  if (maxResultBytes === Number.POSITIVE_INFINITY) return {};
  const messages = () => JSON.stringify(logs.map(({ message }) => message));
  return { keepLogs: () => keep.results.keep(keep.owner, messages(), keep.received) };
}

/** Requested or imported servers that are missing, with the reason. */
export function missingServers(
  requested: readonly string[],
  source: string,
  view: ToolView,
  startingNote: (serverId: string) => string,
): UnavailableServer[] {
  const names = new Set([...requested, ...brokenServers(source, view), ...startingServers(source, view)]);
  return [...names].flatMap((name) =>
    unavailable(name, view, startingNote).map((each) =>
      requested.includes(name) ? { ...each, isRequested: true as const } : each,
    ),
  );
}

/** Servers that are still starting and that a program names or may have looked for. */
export function startingServers(source: string, { forCode }: ToolView): string[] {
  const starting = forCode.servers.filter(({ isStarting }) => isStarting === true);
  const meant = usesDiscovery(source) ? starting : serversNamedIn(source, forCode, starting);
  return meant.slice(0, MAX_STARTING).map(({ path }) => path);
}

const MAX_STARTING = 5;

/** Servers that are down or denied and that a program imports or may have looked for. */
export function brokenServers(source: string, { forCode, hiddenServers }: ToolView): string[] {
  const broken = forCode.servers.filter(({ isAvailable, isStarting }) => !isAvailable && isStarting !== true);
  const imported = [...broken.filter(({ tools }) => tools.length === 0), ...hiddenServers].filter(({ path }) =>
    importsServer(source, path),
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
      return [{ name, reason: 'the policy denies all of its tools; continue without it' }];
    if (snapshot.notice !== undefined) return [{ name, reason: `there is no such server; ${snapshot.notice}` }];
    const known = snapshot.servers.filter((each) => serverProblem(each) === undefined).map(({ path }) => path);
    const close = nearest(bare, known, 3);
    const names =
      close.length > 0 ? close.map((each) => JSON.stringify(each)).join(' or ') : known.slice(0, 30).join(', ');
    const hint = close.length > 0 ? `Did you mean ${names}?` : `Use one of: ${names}.`;
    return [{ name, reason: 'there is no such server', ...(names === '' ? {} : { hint }) }];
  }
  if (server.isStarting === true) return [{ name, reason: startingNote(server.id), isStarting: true }];
  return server.problem === undefined ? [] : [{ name, reason: server.problem }];
}
