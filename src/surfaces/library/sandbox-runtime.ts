import { randomUUID } from 'node:crypto';
import type { CapabilitySet } from '../../domain/capability.js';
import { HostError, isHostError } from '../../domain/errors.js';
import { reachKey } from '../../domain/principal.js';
import type { CallerId, LogEntry } from '../../domain/run.js';
import type { Host } from '../../host/host.js';
import { grantsOf } from '../../host/runs/capability-grants.js';
import type { Session } from '../../host/session.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { requestIdOf } from '../../profiles/unified/contract.js';
import { type ExecuteContext, type ExecuteSettings, execute } from '../../profiles/unified/execute.js';
import { renderRefusal } from '../../profiles/unified/render.js';
import {
  type AuthContext,
  type CapabilityRequest,
  callerOfContext,
  checkContext,
  type ExecutionRequest,
  readContext,
  readRequest,
} from './auth-context.js';
import { type ExecutionResult, executionResult } from './errors.js';
import { plainJson } from './plain-json.js';

/** Runs code of the contract `unified`: the body of a function, with `mcp` and `context`. */
export interface SandboxRuntime {
  execute(code: string, options?: ExecutionOptions): Promise<ExecutionResult>;
  createWorker(): Promise<SandboxWorker>;
  destroyWorker(worker: SandboxWorker): Promise<void>;
  getMetrics(): RuntimeMetrics;
}

export interface ExecutionOptions {
  /** Milliseconds; 30,000 by default. */
  readonly timeout?: number | undefined;
  /** Bytes; 128 MB by default. */
  readonly memoryLimit?: number | undefined;
  /** Whether the code is TypeScript; true by default. */
  readonly typescript?: boolean | undefined;
  /** What the code may reach; nothing by default. */
  readonly capabilities?: CapabilityRequest | undefined;
  /** Visible to the code as `context`. Its `requestId` is returned. */
  readonly context?: Record<string, unknown> | undefined;
  /** The caller: code runs within its capabilities, isolated from other callers. */
  readonly auth?: AuthContext | undefined;
  /** Cancels the code. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each log entry as the code writes it. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
}

/** A dedicated worker: nothing else runs in its processes. */
export interface SandboxWorker {
  readonly id: string;
  execute(code: string, options?: Omit<ExecutionOptions, 'auth'>): Promise<ExecutionResult>;
}

export interface RuntimeMetrics {
  /** Since the host was created, under all contracts. */
  readonly executions: { readonly total: number; readonly failed: number };
  /** Milliseconds. */
  readonly executionTime: number;
  /** CPU time in milliseconds. */
  readonly cpuTime: number;
  readonly apiCalls: number;
  /** Current processes, programs in them, and programs that wait for a process. */
  readonly workers: { readonly processes: number; readonly running: number; readonly queued: number };
}

export interface SandboxRuntimeParts {
  readonly core: Host;
  readonly settings: ExecuteSettings;
  /** For programs of the contract `unified`. */
  readonly openSession: (caller: CallerId, bounds?: CapabilitySet) => Session;
  /** Parses the capabilities of an `AuthContext`. Throws `bad_input`. */
  readonly readCapabilities: (value: unknown) => CapabilitySet;
}

const NO_LOAD = { processes: 0, running: 0, queued: 0 };
const OWN_CALLER = 'library';
/** Callers whose view of the tools is cached. The least recently used one is evicted first. */
const MAX_SESSIONS = 1_000;

export class LibraryRuntime implements SandboxRuntime {
  readonly #parts: SandboxRuntimeParts;
  readonly #sessions = new Map<string, Session>();
  readonly #workers = new Map<string, { readonly session: Session; readonly stop: AbortController }>();
  #total = 0;
  #failed = 0;
  #durationMs = 0;
  #cpuMs = 0;
  #calls = 0;

  constructor(parts: SandboxRuntimeParts) {
    this.#parts = parts;
    parts.core.telemetry.onEvent((event) => {
      if (event.type === 'call') this.#calls++;
      if (event.type !== 'run') return;
      this.#total++;
      if (!event.isSuccess) this.#failed++;
      this.#durationMs += event.durationMs;
      this.#cpuMs += event.usage.cpuMs ?? 0;
    });
  }

  async execute(code: string, given?: ExecutionOptions): Promise<ExecutionResult> {
    return refusalsAsResults(given, async () => {
      const { auth, ...options } = readOptions(given);
      if (auth === undefined) return this.#execute(this.#sessionOf(OWN_CALLER), code, options);
      const context = readContext(auth);
      checkContext(context, 'execute');
      const ofCaller = this.#parts.readCapabilities(context.capabilities);
      const authorizedUntilMs = context.expiresAt.getTime();
      const session = this.#sessionOf(callerOfContext(context), ofCaller);
      return this.#execute(session, code, options, { ofCaller, authorizedUntilMs });
    });
  }

  async createWorker(): Promise<SandboxWorker> {
    const id = randomUUID();
    const session = this.#parts.openSession(`worker ${id}` as CallerId);
    const stop = new AbortController();
    this.#workers.set(id, { session, stop });
    return {
      id,
      execute: async (code, given) => {
        if (stop.signal.aborted) throw new HostError('not_found', `the worker ${id} was destroyed; create another one`);
        return refusalsAsResults(given, async () => {
          const { signal, auth, ...options } = readOptions(given);
          // Not ignored: it would bound nothing.
          if (auth !== undefined)
            throw new HostError('bad_input', 'options.auth: a worker has no caller; use execute of the host');
          const ends = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
          return this.#execute(session, code, { ...options, signal: ends });
        });
      },
    };
  }

  async destroyWorker(given: SandboxWorker): Promise<void> {
    const id = String((given as Partial<SandboxWorker> | undefined)?.id);
    const worker = this.#workers.get(id);
    if (worker === undefined)
      throw new HostError('not_found', `there is no worker ${id}; pass one that createWorker gave`);
    this.#workers.delete(id);
    worker.stop.abort();
    worker.session.close();
  }

  getMetrics(): RuntimeMetrics {
    const { processes, running, queued } = this.#parts.core.loadNow()?.now ?? NO_LOAD;
    return {
      executions: { total: this.#total, failed: this.#failed },
      executionTime: hundredths(this.#durationMs),
      cpuTime: hundredths(this.#cpuMs),
      apiCalls: this.#calls,
      workers: { processes, running, queued },
    };
  }

  validateCapabilities(given: AuthContext, asked: ExecutionRequest | CapabilityRequest): boolean {
    const { settings, readCapabilities } = this.#parts;
    const context = readContext(given);
    const { needsNetwork = false, mcpCalls = [], capabilities } = readRequest(asked);
    const calls = mcpCalls.map(({ serverName }) => `mcp:${serverName}`);
    const toolCalls = mcpCalls.flatMap(({ serverName, toolName }) =>
      toolName === undefined ? [] : [`mcp:${serverName}/${toolName}`],
    );
    // An unreadable request is a mistake of the embedding program, so it is thrown.
    for (const each of [calls, toolCalls, capabilities]) readCapabilities(each);
    try {
      checkContext(context, 'execute');
      const ofCaller = readCapabilities(context.capabilities);
      const bounds = { configured: settings.bounds, ofCaller };
      grantsOf(calls, { configured: settings.bounds, ofCaller: withoutTools(ofCaller) }, settings.isServer);
      grantsOf(toolCalls, bounds, settings.isServer);
      grantsOf(capabilities, bounds, settings.isServer);
      return !needsNetwork || (hasNetwork(ofCaller) && hasNetwork(settings.bounds));
    } catch (error) {
      if (isHostError(error)) return false;
      throw error;
    }
  }

  async #execute(
    session: Session,
    code: string,
    { signal = new AbortController().signal, onLog, context, ...options }: Omit<ExecutionOptions, 'auth'>,
    ofContext: Pick<ExecuteContext, 'ofCaller' | 'authorizedUntilMs'> = {},
  ): Promise<ExecutionResult> {
    const client = { signal, ...ofContext, ...omitUndefined({ onLog }) };
    const request = {
      ...options,
      code,
      ...omitUndefined({ context: ifDefined(context, (context) => plainJson(context, 'context')) }),
    };
    return executionResult((await execute(session, request, this.#parts.settings, client)).response);
  }

  #sessionOf(caller: string, bounds?: CapabilitySet): Session {
    const key = reachKey({ subject: caller, ...omitUndefined({ capabilities: bounds }) });
    const session = this.#sessions.get(key) ?? this.#parts.openSession(caller as CallerId, bounds);
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    for (const [oldest, quiet] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) break;
      quiet.close();
      this.#sessions.delete(oldest);
    }
    return session;
  }
}

/** Throws `bad_input`. The contract's own fields are parsed in one place for all surfaces. */
function readOptions(given: unknown): ExecutionOptions {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new HostError('bad_input', 'options: must be an object');
  const { signal, onLog } = given as Record<string, unknown>;
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new HostError('bad_input', 'options.signal: must be an AbortSignal');
  if (onLog !== undefined && typeof onLog !== 'function')
    throw new HostError('bad_input', 'options.onLog: must be a function');
  return given as ExecutionOptions;
}

async function refusalsAsResults(given: unknown, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  try {
    return await work();
  } catch (error) {
    if (!isHostError(error)) throw error;
    return executionResult(renderRefusal(error, requestIdOf(given) ?? randomUUID()));
  }
}

/** For a call whose server is known but whose tool is not. */
function withoutTools({ mcp, ...set }: CapabilitySet): CapabilitySet {
  if (mcp === undefined) return set;
  const { tools: _, ...servers } = mcp;
  return { ...set, mcp: servers };
}

function hasNetwork({ network }: CapabilitySet): boolean {
  return network !== undefined && network.destinations.length > 0;
}

/** Rounded like the metrics of one execution. */
function hundredths(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
