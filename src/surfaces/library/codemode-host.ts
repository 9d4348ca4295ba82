import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import { readTraceContext, type TraceCarrier } from '../../domain/trace.js';
import type { TypeVerdict } from '../../domain/type-check.js';
import type { UpstreamHealth } from '../../domain/upstream.js';
import { failureOf } from '../../host/calls/call-failure.js';
import type { Host, Isolation } from '../../host/host.js';
import type { Presentation } from '../../host/runs/run-types.js';
import type { ServerControl } from '../../host/servers/server-control.js';
import type { Session } from '../../host/session.js';
import { apiNamespacesOf } from '../../host/tools/api-view.js';
import { findServer } from '../../host/tools/discovery.js';
import type { CatalogTool, ToolView } from '../../host/tools/tool-view.js';
import { nearest } from '../../lib/text/nearest.js';
import type { Profile } from '../../profiles/profile.js';
import { codeOfCall } from '../../profiles/unified/render.js';
import type { AuthContext, CapabilityRequest, ExecutionRequest } from './auth-context.js';
import type { ExecutionResult } from './errors.js';
import { plainJson } from './plain-json.js';
import type { MCPAggregator } from './protocol-adapter.js';
import { type RunOptions, type RunResult, runIn } from './run.js';
import {
  type ExecutionOptions,
  LibraryRuntime,
  type RuntimeMetrics,
  type SandboxRuntime,
  type SandboxRuntimeParts,
  type SandboxWorker,
} from './sandbox-runtime.js';
import { type MCPServerConfig, readServerConfig } from './server-config.js';
import { ToolCallError } from './tool-call-error.js';
import { ToolCatalog } from './tool-catalog.js';
import { type HostTool, type HostTools, type RateLimit, toolRegistryOf } from './tool-registry.js';

/** The parts of a library host. */
export interface LibraryParts {
  readonly core: Host;
  readonly servers: ServerControl;
  readonly profile: Profile;
  readonly openSession: (caller: CallerId) => Session;
  /** For `callTool`, if the configured contract differs from that of `run`. */
  readonly calls?: { readonly presentation: Presentation; readonly openSession: (caller: CallerId) => Session };
  /** The lowest rate limit on calls of a tool by this caller. */
  readonly rateOf: (tool: CatalogTool, caller: string) => RateLimit | undefined;
  /** Reads the limits of one run. Throws `bad_input`. */
  readonly parseRequest: Parameters<typeof runIn>[2];
  /** Adds functions of this process under a name. */
  readonly addTools: (name: string, tools: unknown) => void;
  readonly warnings: readonly string[];
  /** What `execute` needs. */
  readonly unified: Omit<SandboxRuntimeParts, 'core'>;
}

export interface SessionSettings {
  /** The caller that the programs belong to. Programs of two callers never share a process, and neither sees the other's results. */
  readonly caller?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The trace that the call belongs to, as for `run`. */
  readonly trace?: TraceCarrier;
}

const DEFAULT_CALLER = 'library';

/** codemode inside your own program. Create it with `createHost`; call `close` when you are done. */
export class CodemodeHost implements SandboxRuntime, MCPAggregator, AsyncDisposable {
  /** The underlying host, for features that this class does not offer: approvals, stored scripts, replay. */
  readonly core: Host;
  /** Configuration problems that did not prevent the start. */
  readonly warnings: readonly string[];
  readonly #parts: LibraryParts;
  readonly #own: CodemodeSession;
  readonly #runtime: LibraryRuntime;

  /** Use `createHost`. */
  constructor(parts: LibraryParts) {
    this.core = parts.core;
    this.warnings = parts.warnings;
    this.#parts = parts;
    this.#own = this.session();
    this.#runtime = new LibraryRuntime({ core: parts.core, ...parts.unified });
  }

  /**
   * Runs the body of a function under the contract `unified`: `mcp.<namespace>.<tool>(...)`, `context`, `return`. Only what
   * `capabilities` names is granted. Code that fails and requests that are refused are results, not exceptions.
   */
  execute(code: string, options?: ExecutionOptions): Promise<ExecutionResult> {
    return this.#runtime.execute(code, options);
  }

  /** A worker whose processes run nothing else. */
  createWorker(): Promise<SandboxWorker> {
    return this.#runtime.createWorker();
  }

  /** Cancels the programs in it. Throws `not_found`. */
  destroyWorker(worker: SandboxWorker): Promise<void> {
    return this.#runtime.destroyWorker(worker);
  }

  /** Totals so far, and what is in progress now. */
  getMetrics(): RuntimeMetrics {
    return this.#runtime.getMetrics();
  }

  /**
   * Whether a caller may do this, by its own capabilities and by the configuration. Nothing is run. Throws `bad_input` if the
   * context is invalid or the request cannot be read.
   */
  validateCapabilities(context: AuthContext, request: ExecutionRequest | CapabilityRequest): boolean {
    return this.#runtime.validateCapabilities(context, request);
  }

  /** Runs a program. A failed program is a result with its diagnostics. Only failures of the host are thrown. */
  run(code: string, options?: RunOptions): Promise<RunResult> {
    return this.#own.run(code, options);
  }

  /**
   * Type-checks a program for the default caller without running it. If there is no type checker (`codemode check --install`),
   * `isChecked` is false and the reason is given.
   */
  check(code: string): Promise<TypeVerdict> {
    return this.#own.check(code);
  }

  /** The programs of one caller, separate from those of others. */
  session({ caller = DEFAULT_CALLER }: SessionSettings = {}): CodemodeSession {
    return new CodemodeSession(this.#parts, this.#parts.openSession(caller as CallerId));
  }

  /** Names first, whole definitions on demand: `searchTools`, `getToolDefinition`. */
  get catalog(): ToolCatalog {
    return this.#own.catalog;
  }

  /** Every tool that programs of the default caller may call. */
  tools(): Promise<HostTool[]> {
    return this.#own.tools();
  }

  /** The servers, tools and namespaces. Servers that were never asked are asked first, for at most 10 s. */
  async discoverTools(): Promise<HostTools> {
    return this.#own.discoverTools();
  }

  /**
   * Calls one tool through the same policy, limits, approvals and audit log as a program. Under the profile `unified` the call
   * follows that contract: its rate limits apply, and JSON in a text is returned as its value. Throws `ToolCallError`.
   */
  callTool(serverName: string, toolName: string, args?: unknown, options?: CallOptions): Promise<JsonValue> {
    return this.#own.callTool(serverName, toolName, args, options);
  }

  /** Adds a server now. Throws `bad_input` with the wrong key, or if the name is taken. */
  async registerServer(config: MCPServerConfig): Promise<void> {
    const { name, tools, settings } = readServerConfig(config);
    if (tools !== undefined) this.#parts.addTools(name, tools);
    else await this.#parts.servers.register(name, settings);
  }

  /** Removes a server and ends its open calls. Throws `not_found`. */
  async unregisterServer(name: string): Promise<void> {
    await this.#parts.servers.unregister(name);
  }

  async getServerHealth(): Promise<Map<string, UpstreamHealth>> {
    return new Map((await this.core.checkedHealth()).map((health) => [health.id, health]));
  }

  /** Waits until every server was asked for its tools, for at most 10 s. */
  async ready(): Promise<void> {
    await this.#own.ready();
  }

  /** Starts processes ahead of the first program, and asks every server for its tools. */
  async warm(): Promise<void> {
    await this.core.warm();
  }

  /** How programs are isolated from the machine. Throws `jail_unavailable`. */
  isolation(): Promise<Isolation> {
    return this.core.open();
  }

  /** What a model must know before its first program: how to write one, and the current tools. */
  prompt(): string {
    return this.#own.prompt();
  }

  /** Ends running programs, connections and processes. */
  close(): Promise<void> {
    return this.core.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The programs of one caller. */
export class CodemodeSession implements Disposable {
  readonly #parts: LibraryParts;
  readonly #session: Session;
  /** For calls of single tools, under the configured contract. */
  readonly #calls: { readonly session: Session; readonly presentation: Presentation };

  /** Use `host.session()`. */
  constructor(parts: LibraryParts, session: Session) {
    this.#parts = parts;
    this.#session = session;
    const { profile, calls } = parts;
    this.#calls =
      calls === undefined
        ? { session, presentation: profile.presentation }
        : { session: calls.openSession(session.caller), presentation: calls.presentation };
  }

  get caller(): string {
    return this.#session.caller;
  }

  /** Runs a program. A failed program is a result with its diagnostics. Only failures of the host are thrown. */
  run(code: string, options: RunOptions = {}): Promise<RunResult> {
    return runIn(this.#session, { code, ...options }, this.#parts.parseRequest);
  }

  /** Type-checks a program against this caller's tools without running it. Throws `bad_input`. */
  check(code: string): Promise<TypeVerdict> {
    if (typeof code !== 'string') throw new HostError('bad_input', 'check takes the source of a program');
    return this.#session.check(code);
  }

  /** The catalog of this caller's tools. */
  get catalog(): ToolCatalog {
    return new ToolCatalog(this.#session);
  }

  async tools(): Promise<HostTool[]> {
    return [...(await this.discoverTools()).tools.values()];
  }

  async discoverTools(): Promise<HostTools> {
    const view = await this.#session.ready();
    const { core, servers, rateOf } = this.#parts;
    return toolRegistryOf(view, core.health(), {
      factsOf: (id) => servers.describe(id),
      rateOf: (tool) => rateOf(tool, this.caller),
    });
  }

  /**
   * Throws `ToolCallError` if the tool, the policy or a person refuses the call, `not_found` if the server or tool does not
   * exist, `upstream_unavailable` if the server cannot be reached, and `bad_input` if the arguments are not JSON data. Server and
   * tool can be named by their own names or by their names in code.
   */
  async callTool(
    serverName: string,
    toolName: string,
    args: unknown = {},
    { signal = new AbortController().signal, trace }: CallOptions = {},
  ): Promise<JsonValue> {
    if (typeof serverName !== 'string' || typeof toolName !== 'string')
      throw new HostError('bad_input', 'callTool takes the name of a server, the name of a tool, and its arguments');
    const input = plainJson(args, 'args');
    const tool = await this.#find(serverName, toolName);
    const outcome = await this.#calls.session.callDirect({ tool }, input, { signal, trace: readTraceContext(trace) });
    const reply = this.#calls.presentation.reply(outcome);
    if (reply.ok) return JSON.parse(typeof reply.json === 'string' ? reply.json : new TextDecoder().decode(reply.json));
    if ('ends' in reply)
      throw new ToolCallError({ errorClass: reply.ends.name, message: reply.ends.message, hint: '' });
    const { errorClass } = reply.error;
    throw new ToolCallError(
      reply.error,
      outcome.ok ? undefined : codeOfCall(errorClass, failureOf(tool.tool, outcome)),
    );
  }

  async ready(): Promise<void> {
    await this.#session.ready();
  }

  prompt(): string {
    const { profile } = this.#parts;
    const view = this.#session.tools();
    const described = profile.tools.map((tool) => tool.description(view));
    return [...described, profile.instructions(view, this.#session.scripts())].join('\n\n');
  }

  /** Releases everything that is kept for this caller. */
  close(): void {
    this.#session.close();
    if (this.#calls.session !== this.#session) this.#calls.session.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Waits until the tools of the named server are known. */
  async #viewOf(serverName: string): Promise<ToolView> {
    const { session } = this.#calls;
    const view = await session.ready(serverName);
    const named = apiNamespacesOf(view).find(({ name }) => name === serverName)?.server.id;
    return named === undefined || named === serverName ? view : session.ready(named);
  }

  async #find(serverName: string, toolName: string): Promise<CatalogTool> {
    const view = await this.#viewOf(serverName);
    const { forCode, direct } = view;
    const spaces = apiNamespacesOf(view);
    const server = findServer(serverName, forCode) ?? spaces.find(({ name }) => name === serverName)?.server;
    const tools = [...(server?.tools ?? []), ...direct.flatMap(({ tool }) => (isOf(tool, serverName) ? [tool] : []))];
    const methods = spaces.find((each) => each.server === server)?.methods ?? [];
    // A tool's own name takes precedence over its name in code, even if the tool is hidden from this caller.
    const isOwnName = (server?.whole ?? server)?.tools.some(({ tool }) => tool.name === toolName) === true;
    const found =
      tools.find(({ tool }) => tool.name === toolName) ??
      (isOwnName ? undefined : tools.find(({ exportName }) => exportName === toolName)) ??
      (isOwnName ? undefined : methods.find(({ name }) => name === toolName)?.tool);
    if (found !== undefined) return found;
    if (server?.problem !== undefined) {
      const named = `server ${JSON.stringify(server.id)}`;
      const why = server.problem.startsWith(named) ? server.problem : `${named}: ${server.problem}`;
      throw new HostError('upstream_unavailable', why);
    }
    const isServer = server !== undefined || tools.length > 0;
    const known = isServer ? tools.map(({ tool }) => tool.name) : forCode.servers.map(({ id }) => id);
    const [wanted, what] = isServer ? [toolName, `tool of ${serverName}`] : [serverName, 'server'];
    const [close] = nearest(wanted, known, 1);
    const help =
      close === undefined ? `there are: ${known.slice(0, 30).join(', ') || 'none'}` : `did you mean ${close}?`;
    throw new HostError('not_found', `there is no ${what} called ${JSON.stringify(wanted)}; ${help}`);
  }
}

function isOf({ server }: CatalogTool, name: string): boolean {
  return server.id === name || server.path === name;
}
