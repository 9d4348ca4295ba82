import { byUsefulness, type UsedBefore } from '../../catalog/briefing/server-index.js';
import { estimateTokens } from '../../catalog/briefing/tokens.js';
import { declareGo, type GoDeclaration, type GoPackage } from '../../catalog/declarations/go/go.js';
import { allTools, type CatalogServer, type CatalogSnapshot } from '../../catalog/snapshot.js';
import type { Tool } from '../../domain/tool.js';

/**
 * Declarations of as many functions as fit, the most useful first: servers in turn, those used before first; read-only tools before
 * tools that change something, because a program reads before it acts; cheap declarations before expensive ones.
 */
export function selectGoDeclarations(
  snapshot: CatalogSnapshot,
  budgetTokens: number,
  observed: (tool: Tool) => string | undefined,
  used?: UsedBefore,
): readonly GoDeclaration[] {
  const servers = byUsefulness(snapshot.servers, used);
  const tools = servers.flatMap((server) => server.tools.map(({ tool }) => tool));
  const made = declareGo(tools, {
    ...{ detail: 'compact', asks: asksIn(snapshot), observed },
    among: allTools(snapshot),
  });
  const closures = new Closures(made.declarations);
  const nameByTool = new Map(made.functions.map(({ tool, name }) => [tool, name]));
  const queues = servers.map((server) => ranked(server, closures, nameByTool));
  const chosen = new Set<GoDeclaration>();
  let left = budgetTokens;
  for (let turn = 0; queues.some((queue) => turn < queue.length); turn += 1) {
    for (const queue of queues) {
      const added = (queue[turn]?.needs ?? []).filter((each) => !chosen.has(each));
      const cost = added.reduce((sum, each) => sum + closures.costOf(each), 0);
      if (cost > left) continue;
      left -= cost;
      for (const each of added) chosen.add(each);
    }
  }
  return byServer(made, servers).filter((each) => chosen.has(each));
}

/** Which tools need approval. */
export function asksIn({ servers }: CatalogSnapshot): (tool: Tool) => boolean {
  const asking = new Set(
    servers.flatMap(({ tools }) => tools.filter(({ asks }) => asks === true).map(({ tool }) => tool)),
  );
  return (tool) => asking.has(tool);
}

/** All declarations of a package in the order of these servers. Each function follows the types that it is the first to use. */
export function byServer(
  { declarations, functions }: Pick<GoPackage, 'declarations' | 'functions'>,
  servers: readonly CatalogServer[],
): readonly GoDeclaration[] {
  const closures = new Closures(declarations);
  const placeOf = new Map(declarations.map((each, place) => [each, place]));
  const names = new Map<string, string[]>(servers.map(({ id }) => [id, []]));
  for (const { tool, name } of functions) names.get(tool.serverId)?.push(name);
  const ordered = new Set<GoDeclaration>();
  for (const name of [...names.values()].flat())
    for (const each of [...closures.of(name)].sort((one, other) => (placeOf.get(one) ?? 0) - (placeOf.get(other) ?? 0)))
      ordered.add(each);
  return [...ordered, ...declarations.filter((each) => !ordered.has(each))];
}

interface Candidate {
  readonly needs: readonly GoDeclaration[];
  readonly cost: number;
  readonly isReading: boolean;
}

function ranked(
  { tools }: CatalogServer,
  closures: Closures,
  nameByTool: ReadonlyMap<Tool, string>,
): readonly Candidate[] {
  return tools
    .flatMap(({ tool }): Candidate[] => {
      const name = nameByTool.get(tool);
      if (name === undefined) return [];
      const needs = closures.of(name);
      const cost = needs.reduce((sum, each) => sum + closures.costOf(each), 0);
      return [{ needs, cost, isReading: tool.annotations?.readOnlyHint === true }];
    })
    .sort((left, right) => Number(right.isReading) - Number(left.isReading) || left.cost - right.cost);
}

/** Computes a function with everything that it uses. */
class Closures {
  readonly #byName: ReadonlyMap<string, GoDeclaration>;
  readonly #costs = new Map<GoDeclaration, number>();

  constructor(declarations: readonly GoDeclaration[]) {
    this.#byName = new Map(declarations.flatMap((each) => each.names.map((name) => [name, each] as const)));
  }

  of(name: string): readonly GoDeclaration[] {
    const found = new Set<GoDeclaration>();
    const names = [name];
    for (const each of names) {
      const declaration = this.#byName.get(each);
      if (declaration === undefined || found.has(declaration)) continue;
      found.add(declaration);
      names.push(...declaration.uses);
    }
    return [...found];
  }

  costOf(declaration: GoDeclaration): number {
    const known = this.#costs.get(declaration);
    if (known !== undefined) return known;
    const cost = estimateTokens(declaration.text) + 1;
    this.#costs.set(declaration, cost);
    return cost;
  }
}
