import { randomUUID } from 'node:crypto';
import type { BrokerOutcome } from '../broker/broker.js';
import { openRunContext } from '../broker/run-context.js';
import type { Catalog } from '../catalog/catalog.js';
import type { ObservedTypes } from '../catalog/observed/observed-types.js';
import type { CatalogServer, CatalogSnapshot } from '../catalog/snapshot.js';
import type {
  CallerId,
  CallReply,
  ExecutionId,
  GuestCall,
  LogEntry,
  Outcome,
  SourceLanguage,
} from '../domain/execution.js';
import type { IsolationLevel } from '../domain/isolation.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { Limits } from '../domain/limits.js';
import type { Tool } from '../domain/tool.js';
import type { CallProgress } from '../domain/upstream.js';
import { answerDiscovery, findServer, isDiscovery } from './discovery.js';
import { execute } from './execution.js';
import { modulesOf } from './modules.js';
import { isResults, type KeptResults } from './results.js';
import type { Runtime } from './runtime.js';
import { ToolCalls, type TraceEntry } from './tool-calls.js';
import {
  briefDeclarationsOf,
  briefingOf,
  type CodeModeSettings,
  type DirectTool,
  type ToolView,
  viewOf,
} from './tool-view.js';

export type { BrokerOutcome };

export interface RunRequest {
  readonly source: string;
  readonly language: SourceLanguage;
  readonly limits: Limits;
  /** Names of servers the program is about to use: they are connected first, and missed at once. */
  readonly requestedServers?: readonly string[];
  readonly signal?: AbortSignal;
  /** The client gives up about then: a run that takes longer is answered with its id and goes on. */
  readonly answerWithinMs?: number;
  readonly onLog?: (entry: LogEntry) => void;
  readonly onProgress?: (message: string) => void;
}

export interface RunSummary {
  readonly runId: string;
  readonly outcome: Outcome;
  readonly logs: readonly LogEntry[];
  readonly logsCut: boolean;
  readonly trace: readonly TraceEntry[];
  readonly durationMs: number;
  readonly limits: Limits;
  readonly isolation: IsolationLevel;
  /** What came back from tools and was not what they promise. */
  readonly warnings: readonly string[];
  readonly unavailable: readonly UnavailableServer[];
  /** Types of servers that this caller has used for the first time and was not told about before. */
  readonly declarations: readonly ServerTypes[];
  /** What was taken out of the result because it was too large with it: MCP content blocks. */
  readonly media?: readonly JsonObject[];
  /** Under which name a result too large to hand over is kept. */
  readonly keptResult?: { readonly handle: string; readonly bytes: number };
}

export interface ServerTypes {
  readonly path: string;
  readonly text: string;
}

export interface UnavailableServer {
  readonly name: string;
  readonly reason: string;
}

export type RunAnswer =
  | { readonly state: 'finished'; readonly summary: RunSummary }
  | { readonly state: 'running'; readonly runId: string };

/** The words of one contract, as far as a run needs them. */
export interface Presentation {
  reply(outcome: BrokerOutcome): CallReply;
  /** Takes what is not text out of a result that is too large to hand over as it is. */
  separateMedia?(
    resultJson: string,
  ): { readonly resultJson: string; readonly media: readonly JsonObject[] } | undefined;
  response(summary: RunSummary): JsonValue;
}

export interface SessionOptions {
  readonly caller: CallerId;
  /** Name of the contract. */
  readonly profile: string;
  readonly presentation: Presentation;
  readonly codeMode: CodeModeSettings;
  /** Names that no direct tool may take. */
  readonly reservedNames: readonly string[];
  /** Results above it are kept for a later run instead of being handed over. */
  readonly maxResultBytes: number;
}

export interface SessionParts {
  readonly runtime: Runtime;
  readonly catalog: Catalog;
  readonly results: KeptResults;
  /** Absent where learning is switched off. */
  readonly observed?: ObservedTypes;
}

/** Servers whose types come with one answer. */
const MAX_DECLARED_AT_ONCE = 3;

/** One caller's view: which tools there are, and running programs against them. */
export class Session {
  readonly caller: CallerId;
  readonly #parts: SessionParts;
  readonly #options: SessionOptions;
  readonly #declared = new Set<string>();
  #view: { readonly of: CatalogSnapshot; readonly view: ToolView } | undefined;

  constructor(parts: SessionParts, options: SessionOptions) {
    this.caller = options.caller;
    this.#parts = parts;
    this.#options = options;
  }

  /** What exists now, split into what programs and what the client itself may call. */
  tools(): ToolView {
    return this.#viewOf(this.#parts.catalog.snapshot());
  }

  onToolsChanged(listener: () => void): () => void {
    return this.#parts.catalog.onChange(listener);
  }

  /** Waits until servers that were never asked have answered, or are known not to. */
  async ready(): Promise<ToolView> {
    return this.#viewOf(await this.#parts.catalog.prepare());
  }

  search(query: string, options?: { serverId?: string; limit?: number }) {
    return this.#parts.catalog.search(query, options);
  }

  /** Runs a program. A program that fails is an answer; only the host's own failures are thrown. */
  async run(request: RunRequest): Promise<RunAnswer> {
    const runId = randomUUID();
    const finished = this.#execute(runId, request);
    if (request.answerWithinMs === undefined) return { state: 'finished', summary: await finished };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), request.answerWithinMs);
    });
    const first = await Promise.race([finished, late]).finally(() => clearTimeout(timer));
    if (first !== 'late') return { state: 'finished', summary: first };
    const { presentation } = this.#options;
    const response = finished.then(
      (summary) => presentation.response(summary),
      (error: unknown) => ({ error: error instanceof Error ? error.message : 'the run failed' }),
    );
    this.#parts.results.keepRun(this.caller, { runId, response });
    return { state: 'running', runId };
  }

  /** A tool called by the client itself, through the same pipeline as calls from code. */
  async callDirect(
    { tool: { tool, server, exportName } }: DirectTool,
    input: JsonValue,
    signal: AbortSignal,
    onProgress?: (progress: CallProgress) => void,
  ): Promise<BrokerOutcome> {
    const { broker } = await this.#parts.runtime.open();
    return broker.handle({
      run: openRunContext(randomUUID(), this.caller, this.#options.profile, ''),
      tool,
      serverPath: server.path,
      exportName,
      input,
      signal,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  }

  /** The caller will not come back: nothing is kept for it any more. */
  close(): void {
    this.#parts.results.forget(this.caller);
  }

  async #execute(runId: string, request: RunRequest): Promise<RunSummary> {
    const { runtime, catalog, results, observed } = this.#parts;
    const { sandbox, broker } = await runtime.open();
    const { presentation } = this.#options;
    const known = this.tools().forCode;
    const requested = (request.requestedServers ?? []).map((name) => ({ name, server: findServer(name, known) }));
    const view = this.#viewOf(
      await catalog.prepare(requested.flatMap(({ server }) => (server === undefined ? [] : [server.path]))),
    );
    const snapshot = view.forCode;
    const calls = new ToolCalls({
      run: openRunContext(runId, this.caller, this.#options.profile, request.source),
      snapshot,
      broker,
      maxToolCalls: request.limits.maxToolCalls,
      present: (outcome) => presentation.reply(outcome),
      observe: (tool, value) => observed?.observe(this.caller, tool.serverId, tool.name, value),
      ...(request.onProgress === undefined ? {} : { onProgress: request.onProgress }),
    });
    const typeOf = ({ serverId, name }: Tool) => observed?.typeOf(this.caller, serverId, name);
    const answerCall = async (call: GuestCall, signal: AbortSignal): Promise<CallReply> => {
      const input = JSON.parse(call.argumentsJson) as JsonValue[];
      if (isDiscovery(call.target)) return answerDiscovery(call.target, input, snapshot, catalog, typeOf);
      if (isResults(call.target)) return results.answer(call.target, input, this.caller);
      return calls.answer(call, input, signal);
    };
    const { source, language, limits, signal, onLog } = request;
    const report = await execute(sandbox, {
      caller: this.caller,
      program: { source, language, modules: modulesOf(snapshot), limits },
      execution: runId as ExecutionId,
      answerCall,
      ...(signal === undefined ? {} : { signal }),
      ...(onLog === undefined ? {} : { onLog }),
    });
    const { outcome, media } = this.#separateMedia(report.outcome);
    const kept = this.#keepIfLarge(outcome);
    return {
      runId,
      outcome,
      logs: report.logs,
      logsCut: report.logsCut,
      trace: calls.trace,
      durationMs: report.durationMs,
      limits,
      isolation: sandbox.jail.level,
      warnings: [...calls.warnings],
      unavailable: [...new Set([...(request.requestedServers ?? []), ...brokenImports(source, snapshot)])].flatMap(
        (name) => unavailable(name, snapshot),
      ),
      declarations: this.#firstDeclarations(view, source, request.requestedServers ?? []),
      ...(media === undefined ? {} : { media }),
      ...(kept === undefined ? {} : { keptResult: kept }),
    };
  }

  /** Where the tools were too many to be declared up front, a server's types come with the first answer that has to do with it. */
  #firstDeclarations(view: ToolView, source: string, requested: readonly string[]): ServerTypes[] {
    const { level } = briefingOf(view);
    if (level !== 'index' && level !== 'signatures') return [];
    const used = view.forCode.servers.filter(
      (server) =>
        server.tools.length > 0 &&
        (source.includes(`@codemode/servers/${server.path}`) ||
          requested.some((name) => findServer(name, view.forCode) === server)),
    );
    const fresh = used.filter(({ path }) => !this.#declared.has(path)).slice(0, MAX_DECLARED_AT_ONCE);
    for (const { path } of fresh) this.#declared.add(path);
    return fresh.map((server) => ({ path: server.path, text: briefDeclarationsOf(server, source) }));
  }

  #separateMedia(outcome: Outcome): { outcome: Outcome; media?: readonly JsonObject[] } {
    if (outcome.status === 'failed' || Buffer.byteLength(outcome.resultJson) <= this.#options.maxResultBytes)
      return { outcome };
    const separate = this.#options.presentation.separateMedia?.(outcome.resultJson);
    if (separate === undefined) return { outcome };
    return { outcome: { ...outcome, resultJson: separate.resultJson }, media: separate.media };
  }

  #keepIfLarge(outcome: Outcome): RunSummary['keptResult'] {
    if (outcome.status === 'failed') return undefined;
    const bytes = Buffer.byteLength(outcome.resultJson);
    if (bytes <= this.#options.maxResultBytes) return undefined;
    return { handle: this.#parts.results.keep(this.caller, outcome.resultJson), bytes };
  }

  #viewOf(snapshot: CatalogSnapshot): ToolView {
    if (this.#view?.of !== snapshot)
      this.#view = { of: snapshot, view: viewOf(snapshot, this.#options.codeMode, this.#options.reservedNames) };
    return this.#view.view;
  }
}

/** Servers that the program imports and that are not there: their modules are empty, and the reason should be said. */
function brokenImports(source: string, { servers }: CatalogSnapshot): string[] {
  const broken = servers.filter(({ problem, tools }) => problem !== undefined && tools.length === 0);
  return broken.flatMap(({ path }) => (source.includes(`@codemode/servers/${path}`) ? [path] : []));
}

function unavailable(name: string, snapshot: CatalogSnapshot): UnavailableServer[] {
  const server: CatalogServer | undefined = findServer(name, snapshot);
  if (server === undefined) {
    const known = snapshot.servers
      .map(({ path }) => path)
      .slice(0, 30)
      .join(', ');
    return [{ name, reason: `there is no such server; there are: ${known === '' ? 'none' : known}` }];
  }
  return server.problem === undefined ? [] : [{ name, reason: server.problem }];
}
