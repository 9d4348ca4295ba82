import type { PolicyGate } from '../../broker/policy/gate.js';
import type { UsedBefore } from '../../catalog/briefing/server-index.js';
import type { Catalog } from '../../catalog/catalog.js';
import { type Detail, declareModule, type ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import { SHARED_DECLARATIONS } from '../../catalog/declarations/typescript/typescript-frames.js';
import { askingTools, type CatalogServer, type CatalogTool } from '../../catalog/snapshot.js';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Crash, UpstreamDefinition, UpstreamState } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { nearest } from '../../lib/text/nearest.js';
import { checkPolicy, type PolicyCheck, type PolicyReport } from '../admin/policy-check.js';
import { findServer } from './discovery.js';
import { type ToolDetail, toolDefinition } from './tool-definition.js';
import { type CodeModeSettings, declarationsOf, type ToolView, toolPolicyOf, viewOf } from './tool-view.js';

export type { Detail as DeclarationDetail, PolicyReport };

export interface InventoryParts {
  readonly catalog: Catalog;
  readonly definitions: readonly UpstreamDefinition[];
  /** Servers outside the catalog: disabled, or, with a reason, entries without a usable name. */
  readonly disabled: readonly { readonly id: string; readonly reason?: string }[];
  readonly codeMode: CodeModeSettings;
  /** Result types observed by the agent that is started on this machine. */
  readonly observedTypeOf?: ObservedTypeOf;
  /** Servers that it has used before. */
  readonly usedBefore?: UsedBefore;
  readonly gate: PolicyGate;
  /** The default viewer. */
  readonly viewer: { readonly caller: string; readonly profile: string };
}

/** The state of one server after it was asked. Everything a server says about itself is untrusted text. */
export interface ServerReport {
  readonly id: string;
  /** The name that programs import. */
  readonly path: string;
  readonly state: UpstreamState | 'disabled';
  /** The transport in use, or the configured one if the server could not be reached. */
  readonly transport: string;
  readonly name?: string;
  readonly version?: string;
  readonly protocolVersion?: string;
  readonly toolCount: number;
  /** The tools were listed by an earlier process: the server did not answer this time. */
  readonly isFromCache: boolean;
  readonly reason?: string;
  /** How its process ended and its last output, if it crashed. */
  readonly crash?: Crash;
  readonly needsLogin: boolean;
  /** Recovered irregularities: repaired or dropped tools, noise. */
  readonly warnings: readonly string[];
}

export interface ToolQuery {
  readonly query?: string;
  readonly server?: string;
  readonly detail: ToolDetail;
  readonly limit?: number;
}

export interface DeclaredModule {
  readonly serverId: string;
  readonly specifier: string;
  readonly text: string;
  readonly warnings: readonly { readonly toolName: string; readonly message: string }[];
}

/** A tool of any server, including those that the policy hides from agents, with the policy's decision. */
export interface FoundTool {
  readonly tool: CatalogTool;
  /** Present for a search. */
  readonly score?: number;
  readonly policy: PolicyReport;
}

/** Called while servers are being asked: the total, and those that have not answered yet. */
export type AskingProgress = (total: number, waitingFor: readonly string[]) => void;

export interface AskOptions {
  readonly names?: readonly string[];
  readonly withinMs?: number;
  readonly onProgress?: AskingProgress;
}

/** Longer than any server's own timeout, which therefore applies. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** Lists servers, tools and their declarations. Runs nothing, so it needs no sandbox. */
export class Inventory {
  readonly #parts: InventoryParts;

  constructor(parts: InventoryParts) {
    this.#parts = parts;
  }

  /**
   * Asks the servers that were never asked, or all of them; with `names` only these. A failure is remembered with its reason.
   * Returns the servers that have not answered in time. Without a given time, each has its configured timeout.
   */
  async ask(
    which: 'unknown' | 'all',
    { names = [], withinMs = LONGEST_WAIT_MS, onProgress }: AskOptions = {},
  ): Promise<readonly string[]> {
    const { catalog } = this.#parts;
    const wanted = new Set(names.flatMap((name) => findServer(name, catalog.snapshot())?.id ?? []));
    const asked = which === 'all' ? catalog.ids() : catalog.unlisted();
    const ids = names.length === 0 ? asked : asked.filter((id) => wanted.has(id));
    const say = (waitingFor: readonly string[]) => onProgress?.(ids.length, waitingFor);
    return catalog.wait(ids, withinMs, { onProgress: say });
  }

  /** Drops the cached listings of earlier processes. */
  forget(): Promise<void> {
    return this.#parts.catalog.forget();
  }

  /** The time of the oldest listing that answers come from. */
  oldestListingMs(): number | undefined {
    return this.#parts.catalog.oldestListingMs();
  }

  /** All configured servers. */
  servers(): ServerReport[] {
    const { catalog, definitions, disabled } = this.#parts;
    const { servers } = catalog.snapshot();
    const health = new Map(catalog.health().map((each) => [each.id, each]));
    const targets = new Map(definitions.map((each) => [each.id, each.target]));
    const reports = servers.map((server): ServerReport => {
      const { id, path, tools, problem } = server;
      const { state = 'idle', reason, crash, needsLogin = false, identity, warnings = [] } = health.get(id) ?? {};
      const why = reason ?? problem;
      return {
        id,
        path,
        // A server that connects but lists nothing is as useless as one that is down.
        state: problem !== undefined && state === 'ready' ? 'failed' : state,
        transport: identity?.transport ?? targets.get(id)?.kind ?? (state === 'disabled' ? 'none' : 'unknown'),
        ...omitUndefined({
          name: identity?.name,
          version: identity?.version,
          protocolVersion: identity?.protocolVersion,
        }),
        toolCount: tools.length,
        isFromCache: problem !== undefined && tools.length > 0,
        ...omitUndefined({ reason: why, crash }),
        needsLogin,
        warnings,
      };
    });
    const off = disabled.map(
      ({ id, reason }): ServerReport => ({
        id,
        path: id,
        ...omitUndefined({ reason }),
        state: 'disabled',
        transport: 'none',
        toolCount: 0,
        isFromCache: false,
        needsLogin: false,
        warnings: [],
      }),
    );
    return [...reports, ...off];
  }

  /** Servers that were asked and did not answer. */
  problems(): { readonly id: string; readonly reason: string; readonly hasTools: boolean }[] {
    const { catalog } = this.#parts;
    return this.#view().flatMap(({ id, problem, tools, isStarting }) => {
      const reason = isStarting === true ? `server ${JSON.stringify(id)}: ${catalog.startingNote(id)}` : problem;
      return reason === undefined ? [] : [{ id, reason, hasTools: tools.length > 0 }];
    });
  }

  /** Tools as the contract describes them: by rank for a query, else by server and name. Throws `not_found`. */
  tools({ query, server, detail, limit }: ToolQuery): JsonObject[] {
    const { catalog } = this.#parts;
    const servers = server === undefined ? this.#view() : [this.#server(server)];
    const most = limit ?? Number.POSITIVE_INFINITY;
    if (query === undefined || query.trim() === '')
      return servers.flatMap(({ tools }) => tools.map((tool) => hit(tool, detail))).slice(0, most);
    const known = new Map(
      servers.flatMap(({ id, tools }) => tools.map((tool) => [JSON.stringify([id, tool.tool.name]), tool])),
    );
    const only = server === undefined ? {} : { serverId: servers[0]?.id as string };
    // The index also contains direct tools: they are requested but not counted.
    const hits = catalog.search(query, { limit: Number.MAX_SAFE_INTEGER, ...only });
    return hits
      .flatMap(({ tool }) => known.get(JSON.stringify([tool.serverId, tool.name])) ?? [])
      .slice(0, most)
      .map((tool) => hit(tool, detail));
  }

  /** Every tool of every server for people: by rank for a query, else by server and name. */
  find({ query, server }: { readonly query?: string; readonly server?: string }): FoundTool[] {
    const { catalog } = this.#parts;
    const { servers } = catalog.snapshot();
    const chosen = servers.filter(({ id, path }) => server === undefined || server === id || server === path);
    if (query === undefined || query.trim() === '')
      return chosen.flatMap(({ tools }) => tools.map((tool) => this.#judged(tool)));
    const known = new Map(
      chosen.flatMap(({ id, tools }) => tools.map((tool) => [JSON.stringify([id, tool.tool.name]), tool])),
    );
    return catalog.search(query, { limit: MAX_FOUND }).flatMap(({ tool, score }) => {
      const found = known.get(JSON.stringify([tool.serverId, tool.name]));
      return found === undefined ? [] : [{ ...this.#judged(found), score }];
    });
  }

  /** One tool, by its server's id and its own name. Throws `not_found`. */
  findOne(serverId: string, toolName: string): FoundTool {
    const { servers } = this.#parts.catalog.snapshot();
    const found = servers.find(({ id }) => id === serverId)?.tools.find(({ tool }) => tool.name === toolName);
    if (found !== undefined) return this.#judged(found);
    throw new HostError('not_found', `there is no tool ${JSON.stringify(`${serverId}/${toolName}`)} (any more)`);
  }

  /** The declaration of one tool, and its observed result if it declares no output. */
  declarationOf({ tool, server }: CatalogTool): { readonly text: string; readonly observed?: string } {
    const { observedTypeOf } = this.#parts;
    const only = { ...server, tools: server.tools.filter((each) => each.tool === tool) };
    const observed = tool.outputSchema === undefined ? observedTypeOf?.(tool) : undefined;
    return {
      text: declarationsOf(only, this.#observed()),
      ...omitUndefined({ observed }),
    };
  }

  #judged(tool: CatalogTool): FoundTool {
    const { gate, viewer, catalog } = this.#parts;
    const check = { name: `${tool.server.path}/${tool.tool.name}` };
    return { tool, policy: checkPolicy(check, catalog.snapshot(), gate, viewer) };
  }

  /** Declarations of the modules that programs import, for these servers or all. Throws `not_found`. */
  declarations(
    names: readonly string[],
    detail: Detail,
  ): { readonly shared: string; readonly modules: DeclaredModule[] } {
    const servers = names.length === 0 ? this.#view() : [...new Set(names.map((name) => this.#server(name)))];
    const modules = servers.map(({ id, path, name, tools }): DeclaredModule => {
      const asking = askingTools(tools);
      const exportNames = new Map(tools.map(({ tool, exportName }) => [tool.name, exportName]));
      const listed = tools.map(({ tool }) => tool);
      const module = { path, serverId: id, serverName: name, tools: listed, exportNames, asking };
      const { text, warnings } = declareModule(module, { detail, ...this.#observed() });
      return { serverId: path, specifier: `@codemode/servers/${path}`, text, warnings };
    });
    return { shared: SHARED_DECLARATIONS, modules };
  }

  /** Closes every connection. Not needed if the host is closed: that closes them too. */
  async close(): Promise<void> {
    await this.#parts.catalog.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** What programs and clients see, for this caller or for the person at the command line. */
  view(caller?: string, codeMode = this.#parts.codeMode, reservedNames: readonly string[] = []): ToolView {
    const { catalog, gate, viewer } = this.#parts;
    const policy = toolPolicyOf(gate, caller === undefined ? viewer : { ...viewer, caller });
    const view = viewOf(catalog.snapshot(), codeMode, reservedNames, policy);
    const { usedBefore } = this.#parts;
    return { ...view, ...this.#observed(), ...omitUndefined({ usedBefore }) };
  }

  #observed(): Pick<ToolView, 'observedTypeOf'> {
    const { observedTypeOf } = this.#parts;
    return omitUndefined({ observedTypeOf });
  }

  /** The policy's decision about one tool, and why. The tool need not exist. Throws `bad_input`. */
  checkPolicy(question: PolicyCheck): PolicyReport {
    return checkPolicy(question, this.#parts.catalog.snapshot(), this.#parts.gate, this.#parts.viewer);
  }

  /** The policy's decision about every known tool, by server, including hidden tools. */
  policyOverview(): readonly { readonly serverId: string; readonly tools: readonly PolicyReport[] }[] {
    const { servers } = this.#parts.catalog.snapshot();
    return servers.map(({ id, tools }) => ({ serverId: id, tools: tools.map((tool) => this.#judged(tool).policy) }));
  }

  #view(): readonly CatalogServer[] {
    return this.view().forCode.servers;
  }

  #server(name: string): CatalogServer {
    const servers = this.#view();
    const found = findServer(name, this.#parts.catalog.snapshot());
    const server = found === undefined ? undefined : servers.find(({ id }) => id === found.id);
    if (server !== undefined) return server;
    const known = servers.map(({ path }) => path);
    const close = nearest(name, known, 3);
    throw new HostError(
      'not_found',
      `there is no server ${JSON.stringify(name)}; ${
        close.length > 0
          ? `did you mean ${close.join(' or ')}?`
          : known.length === 0
            ? 'no servers are configured: run codemode init'
            : `there are: ${known.slice(0, MAX_NAMED_SERVERS).join(', ')}`
      }`,
    );
  }
}

const MAX_NAMED_SERVERS = 30;
const MAX_FOUND = 1_000;

function hit(tool: CatalogTool, detail: ToolDetail): JsonObject {
  return { serverId: tool.server.path, ...toolDefinition(tool, detail) };
}
