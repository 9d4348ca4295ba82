import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import { readTraceContext, type TraceCarrier } from '../../domain/trace.js';
import type { TypeVerdict } from '../../domain/type-check.js';
import type { UpstreamHealth } from '../../domain/upstream.js';
import { failureOf } from '../../host/calls/tool-calls.js';
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

/** What a host of the library is made of. */
export interface LibraryParts {
  readonly core: Host;
  readonly servers: ServerControl;
  readonly profile: Profile;
  readonly openSession: (caller: CallerId) => Session;
  /** For `callTool`, where the configured contract is another one than that of `run`. */
  readonly calls?: { readonly presentation: Presentation; readonly openSession: (caller: CallerId) => Session };
  /** The lowest rate that counts calls of a tool by this caller. */
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
  /** Whose programs they are. Programs of two callers never share a process, and neither sees the other's results. */
  readonly caller?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** What the call is a part of, as for `run`. */
  readonly trace?: TraceCarrier;
}

const DEFAULT_CALLER = 'library';

/** codemode inside your own program. Create it with `createHost`; call `close` when you are done. */
export class CodemodeHost implements SandboxRuntime, MCPAggregator, AsyncDisposable {
  /** The underlying host, for what this class does not offer: approvals, stored scripts, replay. */
  readonly core: Host;
  /** What was odd about the configuration and was got over. */
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
   * Runs the body of a function as the contract `unified` has it: `mcp.<namespace>.<tool>(...)`, `context`, `return`, and
   * nothing granted that is not named in `capabilities`. Code that fails and requests that are refused are results.
   */
  execute(code: string, options?: ExecutionOptions): Promise<ExecutionResult> {
    return this.#runtime.execute(code, options);
  }

  /** A place whose processes nothing else runs in. */
  createWorker(): Promise<SandboxWorker> {
    return this.#runtime.createWorker();
  }

  /** Ends what runs in it. Throws `not_found`. */
  destroyWorker(worker: SandboxWorker): Promise<void> {
    return this.#runtime.destroyWorker(worker);
  }

  /** What was run so far, and what is in progress now. */
  getMetrics(): RuntimeMetrics {
    return this.#runtime.getMetrics();
  }

  /**
   * Whether somebody may do this: by their own capabilities, and by the configuration. Nothing is run. Throws `bad_input`
   * for what is no context, and for a request that cannot be read.
   */
  validateCapabilities(context: AuthContext, request: ExecutionRequest | CapabilityRequest): boolean {
    return this.#runtime.validateCapabilities(context, request);
  }

  /** Runs a program. One that fails is a result, with what was wrong; only the host's own failures are thrown. */
  run(code: string, options?: RunOptions): Promise<RunResult> {
    return this.#own.run(code, options);
  }

  /**
   * What the types of a program say of it, for the default caller. Nothing is run. `isChecked` is false where there is no type
   * checker (`codemode check --install`), with the reason.
   */
  check(code: string): Promise<TypeVerdict> {
    return this.#own.check(code);
  }

  /** One caller's programs, apart from those of others. */
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

  /** Servers, tools and namespaces there are. Servers that were never asked are asked first, for at most 10 s. */
  async discoverTools(): Promise<HostTools> {
    return this.#own.discoverTools();
  }

  /**
   * Calls one tool, through the same policy, limits, approvals and record as a program. Under the profile `unified` it is a
   * call of that contract: at its rates, and JSON in a text is given as its value. Throws `ToolCallError`.
   */
  callTool(serverName: string, toolName: string, args?: unknown, options?: CallOptions): Promise<JsonValue> {
    return this.#own.callTool(serverName, toolName, args, options);
  }

  /** Adds a server now. Throws `bad_input` with the key that is wrong, or for a name that is taken. */
  async registerServer(config: MCPServerConfig): Promise<void> {
    const { name, tools, settings } = readServerConfig(config);
    if (tools !== undefined) this.#parts.addTools(name, tools);
    else await this.#parts.servers.register(name, settings);
  }

  /** Takes a server out; its open calls end. Throws `not_found`. */
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

  /** How programs are cut off from the machine. Throws `jail_unavailable`. */
  isolation(): Promise<Isolation> {
    return this.core.open();
  }

  /** What a model has to know before its first program: how to write one, and the tools there are now. */
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
  /** Calls of single tools, under the configured contract. */
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

  /** Runs a program. One that fails is a result, with what was wrong; only the host's own failures are thrown. */
  run(code: string, options: RunOptions = {}): Promise<RunResult> {
    return runIn(this.#session, { code, ...options }, this.#parts.parseRequest);
  }

  /** What the types of a program say of it, with the tools of this caller. Nothing is run. Throws `bad_input`. */
  check(code: string): Promise<TypeVerdict> {
    if (typeof code !== 'string') throw new HostError('bad_input', 'check takes the source of a program');
    return this.#session.check(code);
  }

  /** The same for this caller's tools. */
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
   * Throws `ToolCallError` for what the tool, the policy or a person refuses, `not_found` for what does not exist,
   * `upstream_unavailable` for a server that cannot be reached, and `bad_input` for arguments that are no data. Server and tool are named as they are, or as code writes them.
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

  /** Nothing is kept for this caller any more. */
  close(): void {
    this.#session.close();
    if (this.#calls.session !== this.#session) this.#calls.session.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** The tools, when those of the named server are known. */
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
    // A tool's own name comes before what it is called in code, also where the tool is hidden from this caller.
    const isOwnName = (server?.whole ?? server)?.tools.some(({ tool }) => tool.name === toolName) === true;
    const found =
      tools.find(({ tool }) => tool.name === toolName) ??
      (isOwnName ? undefined : tools.find(({ exportName }) => exportName === toolName)) ??
      (isOwnName ? undefined : methods.find(({ name }) => name === toolName)?.tool);
    if (found !== undefined) return found;
    if (server?.problem !== undefined)
      throw new HostError('upstream_unavailable', `server ${JSON.stringify(server.id)}: ${server.problem}`);
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
