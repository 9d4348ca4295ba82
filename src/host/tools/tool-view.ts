import { isServerGranted, isToolGranted } from '../../broker/capabilities/run-grants.js';
import { SCRIPT_TOOLS } from '../../broker/capabilities/script-tools.js';
import type { PolicyGate } from '../../broker/policy/gate.js';
import { briefCatalog, DEFAULT_BUDGET_TOKENS } from '../../catalog/briefing/briefing.js';
import {
  type AnsweredDeclarations,
  scriptDeclarations,
  serverDeclarations,
  serverDeclarationsWithin,
  signaturesOf,
} from '../../catalog/briefing/server-declarations.js';
import { AS_CONFIGURED, type IndexNaming, serverIndex, type UsedBefore } from '../../catalog/briefing/server-index.js';
import { estimateTokens } from '../../catalog/briefing/tokens.js';
import { toolSignature } from '../../catalog/declarations/typescript/signature.js';
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

/** Which tools go where: to programs, or to the client as they are. */
export interface CodeModeSettings {
  /** `auto`: a surface that lists tools chooses; programs that somebody sends have all tools meanwhile. */
  readonly enabled: boolean | 'auto';
  /** `tool`, `server/tool`, with `*` for any characters. */
  readonly excludedTools: readonly string[];
  /** What the agent is told about tools before its first program may cost this much. */
  readonly promptTokens?: number;
}

export interface ToolView {
  /** What programs see and may call. */
  readonly forCode: CatalogSnapshot;
  /** What the client sees and calls directly. */
  readonly direct: readonly DirectTool[];
  readonly promptTokens?: number;
  /** What the one who looks has seen tools return that declare no output. */
  readonly observedTypeOf?: ObservedTypeOf;
  /** In how many runs it had used which servers (paths), when this program started. */
  readonly usedBefore?: UsedBefore;
  /** Programs may ask for their caller's last run to be kept as a script. */
  readonly maySave?: true;
  /** Servers of which the policy leaves nothing: they are in neither. */
  readonly hiddenServers: readonly CatalogServer[];
}

/** How a tool is called under a name, what it gives, and whether its calls wait for a person, on one line. */
export function signatureOf({ tool, asks }: CatalogTool, name: string, { observedTypeOf }: ToolView): string {
  const observed = tool.outputSchema === undefined ? observedTypeOf?.(tool) : undefined;
  return `${toolSignature(tool, name, observed)}${asks === true ? ' @asks' : ''}`;
}

/** What the policy says of a tool for one caller. */
export interface ToolPolicy {
  /** It is denied, whatever the arguments. */
  hides(tool: CatalogTool): boolean;
  /** A person is asked before calls of it, or before some of them. */
  asks(tool: CatalogTool): boolean;
  /** Whether a program may ask for a script to be stored, or a rule denies it. */
  readonly maySave: boolean;
  /** It is not the caller's to know of: no call of any tool of it, listed or not, would be granted. */
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

/** Splits a snapshot. A tool is on one side or the other, never on both; one that is denied anyway is on neither. */
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

/** What is made of a view (declarations, packages, lists) is kept with it: callers who see the same share one. */
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
    // Those too that are hidden, for their names: what is denied to a caller leaves its name to no other tool.
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
 * Names of `excludedTools` that no tool has, each with what was probably meant. Undefined while a server is starting. A name
 * of a server that cannot be reached may be right.
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

/** What an agent is told about these tools before its first program; the same text for the same view. */
export function briefingOf(view: ToolView): CatalogBriefing {
  const { forCode, promptTokens, observedTypeOf, usedBefore } = view;
  // What one caller has seen is in its own text only. It stays as it is while the tools do: clients cache it.
  const owner = observedTypeOf === undefined && usedBefore === undefined ? forCode : view;
  const known = briefings.get(owner);
  if (known !== undefined && known.promptTokens === promptTokens) return known.briefing;
  const learned = {
    ...omitUndefined({ observedTypeOf, usedBefore }),
  };
  const budget = promptTokens === undefined ? {} : { budgetTokens: promptTokens };
  const briefing = briefCatalog(forCode, { ...budget, ...learned });
  briefings.set(owner, { promptTokens, briefing });
  return briefing;
}

/** A line for each server with its tools, under the names that the user and the servers gave them. */
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

/** In how much detail; the same for all callers, because what was observed only fills what is left. */
export function briefingLevel({ observedTypeOf: _, usedBefore: __, ...view }: ToolView): CatalogBriefing['level'] {
  return briefingOf(view).level;
}

/** Making one takes milliseconds, and every client asks. */
const briefings = new WeakMap<
  CatalogSnapshot | ToolView,
  { readonly promptTokens: number | undefined; readonly briefing: CatalogBriefing }
>();

/** The TypeScript declarations of one server's module, complete in themselves. */
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

/** The types of some of its tools, as far as an answer has room for them. */
export function briefDeclarationsOf(
  server: CatalogServer,
  wanted: readonly CatalogTool[],
  { observedTypeOf }: ToolView,
  budgetTokens: number,
): AnsweredDeclarations {
  return serverDeclarationsWithin(server, budgetTokens, wanted, observedTypeOf);
}

/** Of the same tools only the functions. */
export function briefSignaturesOf(server: CatalogServer, tools: readonly CatalogTool[], { observedTypeOf }: ToolView) {
  return signaturesOf(server, tools, observedTypeOf);
}
