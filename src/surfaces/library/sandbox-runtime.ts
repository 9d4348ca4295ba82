import { randomUUID } from 'node:crypto';
import type { CapabilitySet } from '../../domain/capability.js';
import { HostError, isHostError } from '../../domain/errors.js';
import type { CallerId, LogEntry } from '../../domain/execution.js';
import type { JsonObject } from '../../domain/json.js';
import { grantsOf } from '../../host/grants.js';
import type { Host } from '../../host/host.js';
import type { Session } from '../../host/session.js';
import { type ExecuteSettings, execute } from '../../profiles/unified/execute.js';
import { type ExecuteResponse, renderRefusal } from '../../profiles/unified/render.js';
import { type AuthContext, type CapabilityRequest, callerOfContext, checkContext } from './auth-context.js';

/** Runs code as the contract `unified` has it: the body of a function, with `mcp` and `context`. */
export interface SandboxRuntime {
  execute(code: string, options?: ExecutionOptions): Promise<ExecutionResult>;
  createWorker(): Promise<SandboxWorker>;
  destroyWorker(worker: SandboxWorker): Promise<void>;
  getMetrics(): RuntimeMetrics;
}

export interface ExecutionOptions {
  /** Milliseconds; 30,000 where nothing else is configured. */
  readonly timeout?: number;
  /** Bytes; 128 MB where nothing else is configured. */
  readonly memoryLimit?: number;
  /** Whether the code is TypeScript: true. */
  readonly typescript?: boolean;
  /** What it may reach: nothing. */
  readonly capabilities?: CapabilityRequest;
  /** Visible to the code as `context`; its `requestId` comes back. */
  readonly context?: JsonObject;
  /** For whom: within their capabilities, apart from everybody else. */
  readonly auth?: AuthContext;
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Told of what it writes, when it does. */
  readonly onLog?: (entry: LogEntry) => void;
}

/** What became of it. Code that fails, and a request that is refused, are results: `success` is false. */
export type ExecutionResult = ExecuteResponse;

/** A place of its own: nothing else runs in its processes. */
export interface SandboxWorker {
  readonly id: string;
  execute(code: string, options?: Omit<ExecutionOptions, 'auth'>): Promise<ExecutionResult>;
}

export interface RuntimeMetrics {
  /** Since the host was made, under whichever contract. */
  readonly executions: { readonly total: number; readonly failed: number };
  /** Milliseconds. */
  readonly executionTime: number;
  /** Milliseconds of a processor. */
  readonly cpuTime: number;
  readonly apiCalls: number;
  /** Now: processes, programs in them, and programs that wait for one. */
  readonly workers: { readonly processes: number; readonly running: number; readonly queued: number };
}

export interface SandboxRuntimeParts {
  readonly core: Host;
  readonly settings: ExecuteSettings;
  /** For programs of the contract `unified`. */
  readonly openSession: (caller: CallerId) => Session;
  /** Reads what an `AuthContext` grants. Throws `bad_input`. */
  readonly readCapabilities: (value: unknown) => CapabilitySet;
}

const NO_LOAD = { processes: 0, running: 0, queued: 0 };
const OWN_CALLER = 'library';
/** Callers whose view of the tools is kept; the one that was quiet for longest goes first. */
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

  async execute(code: string, { auth, ...options }: ExecutionOptions = {}): Promise<ExecutionResult> {
    try {
      if (auth === undefined) return await this.#execute(this.#sessionOf(OWN_CALLER), code, options);
      checkContext(auth, 'execute');
      const ofCaller = this.#parts.readCapabilities(auth.capabilities);
      return await this.#execute(this.#sessionOf(callerOfContext(auth)), code, options, ofCaller);
    } catch (error) {
      if (!isHostError(error)) throw error;
      return renderRefusal(error, randomUUID());
    }
  }

  async createWorker(): Promise<SandboxWorker> {
    const id = randomUUID();
    const session = this.#parts.openSession(`worker ${id}` as CallerId);
    const stop = new AbortController();
    this.#workers.set(id, { session, stop });
    return {
      id,
      execute: async (code, { signal, ...options } = {}) => {
        if (stop.signal.aborted) throw new HostError('not_found', `the worker ${id} was destroyed; create another one`);
        const ends = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
        return this.#execute(session, code, { ...options, signal: ends });
      },
    };
  }

  async destroyWorker({ id }: SandboxWorker): Promise<void> {
    const worker = this.#workers.get(id);
    if (worker === undefined) throw new HostError('not_found', `there is no worker ${id}`);
    this.#workers.delete(id);
    worker.stop.abort();
    worker.session.close();
  }

  getMetrics(): RuntimeMetrics {
    const { processes, running, queued } = this.#parts.core.loadNow()?.now ?? NO_LOAD;
    return {
      executions: { total: this.#total, failed: this.#failed },
      executionTime: this.#durationMs,
      cpuTime: this.#cpuMs,
      apiCalls: this.#calls,
      workers: { processes, running, queued },
    };
  }

  validateCapabilities(context: AuthContext, capabilities: CapabilityRequest): boolean {
    const { settings, readCapabilities } = this.#parts;
    try {
      checkContext(context, 'execute');
      const ofCaller = readCapabilities(context.capabilities);
      grantsOf(capabilities, { configured: settings.bounds, ofCaller }, settings.isServer);
      return true;
    } catch (error) {
      if (isHostError(error)) return false;
      throw error;
    }
  }

  async #execute(
    session: Session,
    code: string,
    { signal = new AbortController().signal, onLog, ...request }: Omit<ExecutionOptions, 'auth'>,
    ofCaller?: CapabilitySet,
  ): Promise<ExecutionResult> {
    const circumstances = { signal, ofCaller, ...(onLog === undefined ? {} : { onLog }) };
    return (await execute(session, { ...request, code }, this.#parts.settings, circumstances)).response;
  }

  #sessionOf(caller: string): Session {
    const session = this.#sessions.get(caller) ?? this.#parts.openSession(caller as CallerId);
    this.#sessions.delete(caller);
    this.#sessions.set(caller, session);
    for (const [oldest, quiet] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) break;
      quiet.close();
      this.#sessions.delete(oldest);
    }
    return session;
  }
}
