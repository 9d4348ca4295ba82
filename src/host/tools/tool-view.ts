import { isServerGranted, isToolGranted } from '../../broker/capabilities/run-grants.js';
import { SCRIPT_TOOLS } from '../../broker/capabilities/script-tools.js';
import type { PolicyGate } from '../../broker/policy/gate.js';
import { briefCatalog, DEFAULT_BUDGET_TOKENS } from '../../catalog/briefing/briefing.js';
import {
  type AnsweredDeclarations,
  othersOf,
  scriptDeclarations,
  serverDeclarations,
  serverDeclarationsWithin,
  signaturesOf,
} from '../../catalog/briefing/server-declarations.js';
import { AS_CONFIGURED, type IndexNaming, serverIndex, type UsedBefore } from '../../catalog/briefing/server-index.js';
import { estimateTokens } from '../../catalog/briefing/tokens.js';
import { markedSignature } from '../../catalog/declarations/typescript/signature.js';
import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../../catalog/snapshot.js';
import type { CatalogBriefing } from '../../domain/briefing.js';
import type { CapabilitySet } from '../../domain/capability.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { matchesGlob } from '../../lib/text/glob.js';
import { nearest } from '../../lib/text/nearest.js';
import { type DirectTool, nameDirectTools } from './direct-tools.js';
import { markApprovalTools } from './mark-approval-tools.js';

export type { CatalogServer, CatalogSnapshot, CatalogTool, DirectTool };

/** Which tools go to programs, and which to the client directly. */
export interface CodeModeSettings {
  /** `auto`: a surface that lists tools decides. Until then programs have all tools. */
  readonly enabled: boolean | 'auto';
  /** `tool` or `server/tool`, with `*` as wildcard. */
  readonly excludedTools: readonly string[];
  /** The token budget for what the agent reads about tools before its first program. */
  readonly promptTokens?: number;
}

export interface ToolView {
  /** What programs see and may call. */
  readonly forCode: CatalogSnapshot;
  /** What the client sees and calls directly. */
  readonly direct: readonly DirectTool[];
  readonly promptTokens?: number;
  /** The viewer's observed result types of tools that declare no output. */
  readonly observedTypeOf?: ObservedTypeOf;
  /** In how many runs the viewer had used which servers (paths), when this process started. */
  readonly usedBefore?: UsedBefore;
  /** Programs may ask to store their caller's last run as a script. */
  readonly maySave?: true;
  /** Servers whose tools are all denied by the policy: they are on neither side. */
  readonly hiddenServers: readonly CatalogServer[];
}

/** A tool's signature and result under this name, and whether its calls need approval, on one line. */
export function signatureOf(found: CatalogTool, name: string, { observedTypeOf }: ToolView): string {
  const { tool } = found;
  return markedSignature(found, name, tool.outputSchema === undefined ? observedTypeOf?.(tool) : undefined);
}

/** The policy's decisions about tools for one caller. */
export interface ToolPolicy {
  /** The tool is denied for all arguments. */
  hides(tool: CatalogTool): boolean;
  /** Some or all calls of the tool need approval. */
  asks(tool: CatalogTool): boolean;
  /** Whether a program may ask for a script to be stored: no rule denies it. */
  readonly maySave: boolean;
  /** The caller must not know about the server: no call to any of its tools, listed or not, would be granted. */
  isUnreachable(server: CatalogServer): boolean;
}

export function toolPolicyOf(
  { policy }: PolicyGate,
  {
    caller,
    profile,
    reach,
  }: { readonly caller: string; readonly profile: string; readonly reach?: CapabilitySet | undefined },
): ToolPolicy {
  const isGranted = ({ tool }: CatalogTool) => reach === undefined || isToolGranted(tool, reach.mcp);
  const { tool: save, server: scripts } = SCRIPT_TOOLS.save;
  return {
    maySave: !policy.hides(save, scripts.path, caller, profile),
    hides: (each) => !isGranted(each) || policy.hides(each.tool, each.server.path, caller, profile),
    asks: ({ tool, server }) => policy.asks(tool, server.path, caller, profile),
    isUnreachable: ({ id }) => reach !== undefined && !isServerGranted(id, reach.mcp),
  };
}

/** Splits a snapshot. A tool is on one side or the other, never on both. A denied tool is on neither. */
export function viewOf(
  whole: CatalogSnapshot,
  { enabled, excludedTools, promptTokens }: CodeModeSettings,
  reservedNames: readonly string[],
  policy: ToolPolicy,
): ToolView {
  const snapshot = markApprovalTools(whole, (tool) => policy.asks(tool));
  const isHidden = (tool: CatalogTool) => policy.hides(tool);
  const hidden = new Set(snapshot.servers.flatMap(({ tools }) => tools.filter(isHidden)));
  const unreachable = new Set(snapshot.servers.filter((server) => policy.isUnreachable(server)));
  if (enabled !== false && excludedTools.length === 0 && hidden.size === 0 && unreachable.size === 0)
    return {
      forCode: snapshot,
      direct: [],
      hiddenServers: [],
      ...omitUndefined({ promptTokens }),
      ...(policy.maySave ? { maySave: true as const } : {}),
    };
  const known = shared.get(snapshot) ?? new Map<string, ToolView>();
  shared.set(snapshot, known);
  const settings = { enabled, excludedTools, ...omitUndefined({ promptTokens }) };
  const key = JSON.stringify([
    ...[settings, reservedNames, [...hidden].map(({ target }) => target)],
    [...unreachable].map(({ id }) => id),
  ]);
  const view = known.get(key) ?? split(snapshot, whole, settings, reservedNames, { hidden, unreachable });
  if (known.size < MAX_SHARED) known.set(key, view);
  return policy.maySave ? { ...view, maySave: true } : view;
}

/** Everything made from a view (declarations, packages, lists) is cached with it: callers that see the same tools share one. */
const MAX_SHARED = 16;
const shared = new WeakMap<CatalogSnapshot, Map<string, ToolView>>();

function split(
  snapshot: CatalogSnapshot,
  whole: CatalogSnapshot,
  { enabled, excludedTools, promptTokens }: CodeModeSettings,
  reservedNames: readonly string[],
  { hidden, unreachable }: { hidden: ReadonlySet<CatalogTool>; unreachable: ReadonlySet<CatalogServer> },
): ToolView {
  const isDirect = (tool: CatalogTool) =>
    enabled === false || excludedTools.some((pattern) => isExcluded(tool, pattern));
  const direct: CatalogTool[] = [];
  const servers: CatalogServer[] = [];
  const hiddenServers: CatalogServer[] = [];
  const directNames = new Map<string, Map<string, string>>();
  for (const server of snapshot.servers) {
    // Hidden tools too, to reserve their names: no other tool may take the name of a denied one.
    direct.push(...server.tools.filter(isDirect));
    if (unreachable.has(server)) continue;
    if (server.tools.length > 0 && server.tools.every((tool) => hidden.has(tool))) {
      hiddenServers.push(server);
      continue;
    }
    const kept: CatalogTool[] = [];
    const names = new Map<string, string>();
    const view: CatalogServer = { ...server, whole: server, tools: kept, direct: names };
    directNames.set(server.id, names);
    for (const tool of server.tools) if (!hidden.has(tool) && !isDirect(tool)) kept.push({ ...tool, server: view });
    if (enabled !== false) servers.push(view);
  }
  const forCode: CatalogSnapshot = {
    version: snapshot.version,
    whole,
    ...omitUndefined({ notice: snapshot.notice }),
    servers,
    serverByPath: new Map(servers.map((server) => [server.path, server])),
    toolByTarget: new Map(servers.flatMap(({ tools }) => tools.map((tool) => [tool.target, tool]))),
  };
  const listed = nameDirectTools(direct, reservedNames, snapshot.servers).filter(({ tool }) => !hidden.has(tool));
  for (const { name, tool } of listed) directNames.get(tool.server.id)?.set(tool.tool.name, name);
  return {
    forCode,
    direct: listed,
    hiddenServers,
    ...omitUndefined({ promptTokens }),
  };
}

function isExcluded({ tool, server }: CatalogTool, pattern: string): boolean {
  const slash = pattern.indexOf('/');
  if (slash < 0) return matchesGlob(pattern, tool.name);
  const serverPattern = pattern.slice(0, slash);
  return (
    (matchesGlob(serverPattern, server.id) || matchesGlob(serverPattern, server.path)) &&
    matchesGlob(pattern.slice(slash + 1), tool.name)
  );
}

/**
 * Names of `excludedTools` that match no tool, each with a suggestion. Undefined while a server is starting. A name of an
 * unreachable server may be right.
 */
export function unmatchedExclusions(
  { forCode }: Pick<ToolView, 'forCode'>,
  excludedTools: readonly string[],
): readonly string[] | undefined {
  const { servers } = forCode.whole ?? forCode;
  if (servers.some(({ isStarting }) => isStarting === true)) return undefined;
  const unknown = servers.filter(({ tools, isAvailable }) => !isAvailable && tools.length === 0);
  const tools = servers.flatMap((server) => server.tools);
  return excludedTools
    .filter((pattern) => !tools.some((tool) => isExcluded(tool, pattern)))
    .filter(
      (pattern) => !unknown.some(({ id, path }) => pattern.startsWith(`${id}/`) || pattern.startsWith(`${path}/`)),
    )
    .map((pattern) => {
      const names = new Set(tools.flatMap(({ tool, server }) => [tool.name, `${server.id}/${tool.name}`]));
      const [close] = nearest(pattern, [...names], 1);
      return `${JSON.stringify(pattern)}${close === undefined ? '' : ` (did you mean ${JSON.stringify(close)}?)`}`;
    });
}

/** What an agent reads about these tools before its first program. The same view gives the same text. */
export function briefingOf(view: ToolView): CatalogBriefing {
  const { forCode, promptTokens, observedTypeOf, usedBefore } = view;
  // One caller's observations appear only in its own text. The text stays the same while the tools do: clients cache it.
  const owner = observedTypeOf === undefined && usedBefore === undefined ? forCode : view;
  const known = briefings.get(owner);
  if (known !== undefined && known.promptTokens === promptTokens) return known.briefing;
  const learned = {
    ...omitUndefined({ observedTypeOf, usedBefore }),
  };
  const budget = omitUndefined({ budgetTokens: promptTokens });
  const briefing = briefCatalog(forCode, { ...budget, ...learned });
  briefings.set(owner, { promptTokens, briefing });
  return briefing;
}

/** One line for each server with its tools, under the names of the user and the servers. */
export function indexOf(
  { forCode, promptTokens = DEFAULT_BUDGET_TOKENS, usedBefore }: ToolView,
  maximumCharacters?: number,
  naming: IndexNaming = AS_CONFIGURED,
): string {
  const [most, measure] =
    maximumCharacters === undefined
      ? [promptTokens, estimateTokens]
      : [maximumCharacters, (text: string) => text.length];
  return serverIndex(forCode.servers, most, measure, naming, usedBefore);
}

/** The level of detail. It is the same for all callers, because observed types only fill the remaining room. */
export function briefingLevel({ observedTypeOf: _, usedBefore: __, ...view }: ToolView): CatalogBriefing['level'] {
  return briefingOf(view).level;
}

/** Cached: making a briefing takes milliseconds, and every client needs one. */
const briefings = new WeakMap<
  CatalogSnapshot | ToolView,
  { readonly promptTokens: number | undefined; readonly briefing: CatalogBriefing }
>();

/** The self-contained TypeScript declarations of one server's module. */
export function declarationsOf(server: CatalogServer, { observedTypeOf }: Pick<ToolView, 'observedTypeOf'>): string {
  return serverDeclarations(server, 'full', observedTypeOf);
}

/** The same for scripts, which call every tool through one function. */
export function scriptDeclarationsOf(
  server: CatalogServer,
  { observedTypeOf }: Pick<ToolView, 'observedTypeOf'>,
): string {
  return scriptDeclarations(server, observedTypeOf);
}

/** The types of some of its tools, as far as they fit into an answer. */
export function briefDeclarationsOf(
  server: CatalogServer,
  wanted: readonly CatalogTool[],
  { observedTypeOf }: ToolView,
  budgetTokens: number,
): AnsweredDeclarations {
  return serverDeclarationsWithin(server, budgetTokens, wanted, observedTypeOf);
}

/** Only the function signatures of these tools, and the names of the others if the server was not told of before. */
export function briefSignaturesOf(
  server: CatalogServer,
  tools: readonly CatalogTool[],
  { observedTypeOf }: ToolView,
  isFirst = false,
): string {
  return `${signaturesOf(server, tools, observedTypeOf)}${isFirst ? othersOf(server, tools) : ''}`;
}
