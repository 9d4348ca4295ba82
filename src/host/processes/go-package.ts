import { byUsefulness, type IndexNaming, serverIndex, type UsedBefore } from '../../catalog/briefing/server-index.js';
import { estimateTokens } from '../../catalog/briefing/tokens.js';
import {
  declareGo,
  GO_HELPERS,
  type GoDeclaration,
  goFile,
  goText,
  selectDeclarations,
} from '../../catalog/declarations/go/go.js';
import { allTools, type CatalogServer, type CatalogSnapshot, type CatalogTool } from '../../catalog/snapshot.js';
import type { Tool } from '../../domain/tool.js';
import type { ToolView } from '../tools/tool-view.js';
import { goObserved } from './go-observed.js';
import { asksIn, byServer, selectGoDeclarations } from './select-go-declarations.js';

/** The tools of one snapshot as Go declarations. */
export interface GoTools {
  readonly declarations: readonly GoDeclaration[];
  readonly functionByTool: ReadonlyMap<Tool, string>;
  readonly toolByFunction: ReadonlyMap<string, Tool>;
}

/** What an agent reads about them: as many declarations as fit, and the names of the rest. */
export interface GoBriefing {
  /** `index`: not all functions are declared. */
  readonly level: 'declarations' | 'index';
  /** Go declarations of the helpers and of the tools that fit. */
  readonly declarations: string;
  /** One line for each server; empty if everything is declared. */
  readonly index: string;
}

/** Cached: thousands of tools take a second to declare, and every program needs them. */
const packages = new WeakMap<CatalogSnapshot, GoTools>();
const briefings = new WeakMap<
  CatalogSnapshot,
  { readonly budgetTokens: number; readonly used: UsedBefore | undefined; readonly briefing: GoBriefing }
>();

export function goToolsOf(snapshot: CatalogSnapshot): GoTools {
  const known = packages.get(snapshot);
  if (known !== undefined) return known;
  const { declarations, functions } = declareGo(toolsOf(snapshot), {
    asks: asksIn(snapshot),
    among: allTools(snapshot),
  });
  const made: GoTools = {
    declarations: [...GO_HELPERS, ...declarations],
    functionByTool: new Map(functions.map(({ tool, name }) => [tool, name])),
    toolByFunction: new Map(functions.map(({ tool, name }) => [name, tool])),
  };
  packages.set(snapshot, made);
  return made;
}

/** The file that a program is compiled with: the tools and helpers whose names occur in the source. */
export function goToolsFile(source: string, snapshot: CatalogSnapshot): string {
  return goFile(declarationsNamed(wordsOf(source), snapshot));
}

/** The declarations of these names and of everything they use, as an agent reads them. */
export function goDeclarationsOf(names: Iterable<string>, snapshot: CatalogSnapshot): string {
  return goText(declarationsNamed(new Set(names), snapshot));
}

/**
 * Functions that a source calls like tool functions and that no tool has: `getWeather(ctx, ...)`. Functions that the source defines
 * itself are not included.
 */
export function unknownGoCalls(source: string, snapshot: CatalogSnapshot): string[] {
  const called = new Set<string>();
  for (const [, name = ''] of source.matchAll(GO_CALL)) {
    called.add(name);
    if (called.size >= MAX_CALLED) break;
  }
  const { declarations } = goToolsOf(snapshot);
  const known = new Set(declarations.flatMap(({ names }) => names));
  return [...called].filter((name) => !known.has(name) && !new RegExp(`\\b${name}\\b[\\w, ]{0,200}:?=`).test(source));
}

/** The most names checked: each is searched in the whole source. */
const MAX_CALLED = 100;
/** Not `client.Get(ctx`: tool functions have no receiver. */
const GO_CALL = /(?<![.\p{L}\p{Nd}_])([\p{L}_][\p{L}\p{Nd}_]*)\(\s*ctx\b/gu;

/** The declarations of one server's functions. */
export function goServerDeclarations({ id }: CatalogServer, { forCode }: Pick<ToolView, 'forCode'>): string {
  const { functionByTool } = goToolsOf(forCode);
  const names = [...functionByTool].flatMap(([tool, name]) => (tool.serverId === id ? [name] : []));
  return goDeclarationsOf(names, forCode);
}

/** The declarations of the functions of some or all servers, with the helpers that every program has. */
export function goDeclarationsOfServers(
  { forCode }: Pick<ToolView, 'forCode'>,
  serverIds: readonly string[] | undefined,
  detail: (typeof DETAILS)[number],
): string {
  const { declarations, functions } = declareGo(toolsOf(forCode), {
    detail,
    asks: asksIn(forCode),
    among: allTools(forCode),
  });
  const wanted = functions.filter(({ tool }) => serverIds === undefined || serverIds.includes(tool.serverId));
  const names = new Set(wanted.map(({ name }) => name));
  return goText([...selectDeclarations(declarations, (name) => names.has(name)), ...GO_HELPERS]);
}

/** The name under which Go programs call a tool. */
export function goFunctionOf({ tool }: CatalogTool, snapshot: CatalogSnapshot): string {
  return goToolsOf(snapshot).functionByTool.get(tool) ?? tool.name;
}

/** A wrong name or type costs a compilation, so Go agents get more up front than agents that write JavaScript. */
const GO_BUDGET_TOKENS = 4_000;

/** What an agent reads before its first program, servers used before first. The same snapshot gives the same text. */
export function goBriefing({
  forCode: snapshot,
  promptTokens: budgetTokens = GO_BUDGET_TOKENS,
  usedBefore: used,
  observedTypeOf,
}: Pick<ToolView, 'forCode' | 'promptTokens' | 'usedBefore' | 'observedTypeOf'>): GoBriefing {
  const known = briefings.get(snapshot);
  if (known?.budgetTokens === budgetTokens && known.used === used) return known.briefing;
  const briefing = makeBriefing(snapshot, budgetTokens, used, (tool) => goObserved(observedTypeOf?.(tool)));
  briefings.set(snapshot, { budgetTokens, used, briefing });
  return briefing;
}

const DETAILS = ['full', 'compact', 'signatures'] as const;
/** If the text exceeds the budget by more than this factor, omitting descriptions is not enough. */
const HOPELESS = 8;

/** The share of the budget for declarations if not all functions fit. The names of the others get the rest. */
const DECLARED_SHARE = 0.6;

function makeBriefing(
  snapshot: CatalogSnapshot,
  budgetTokens: number,
  used: UsedBefore | undefined,
  observed: (tool: Tool) => string | undefined,
): GoBriefing {
  const helpers = goText(GO_HELPERS);
  const left = budgetTokens - estimateTokens(helpers);
  for (const detail of DETAILS) {
    const made = declareGo(toolsOf(snapshot), { detail, asks: asksIn(snapshot), observed, among: allTools(snapshot) });
    const tokens = estimateTokens(goText(made.declarations));
    if (tokens <= left) {
      const ordered = byServer(made, byUsefulness(snapshot.servers, used));
      return { level: 'declarations', declarations: goText([...ordered, ...GO_HELPERS]), index: '' };
    }
    if (tokens > left * HOPELESS) break;
  }
  const useful = selectGoDeclarations(snapshot, left * DECLARED_SHARE, observed, used);
  const shown = goText([...useful, ...GO_HELPERS]);
  const naming: IndexNaming = {
    serverName: ({ id, path }) => (/^[A-Za-z0-9][\w.-]{0,99}$/.test(id) ? id : path),
    toolName: (tool) => goFunctionOf(tool, snapshot),
    use: 'call it',
    rest: ': searchTools finds them',
  };
  const room = budgetTokens - estimateTokens(shown);
  const index = serverIndex(snapshot.servers, room, estimateTokens, naming, used);
  return { level: 'index', declarations: shown, index };
}

function toolsOf({ servers }: CatalogSnapshot): Tool[] {
  return servers.flatMap(({ tools }) => tools.map(({ tool }) => tool));
}

function declarationsNamed(names: ReadonlySet<string>, snapshot: CatalogSnapshot): readonly GoDeclaration[] {
  return selectDeclarations(goToolsOf(snapshot).declarations, (name) => names.has(name));
}

function wordsOf(source: string): ReadonlySet<string> {
  return new Set(source.match(/[\p{L}_][\p{L}\p{Nd}_]*/gu));
}
