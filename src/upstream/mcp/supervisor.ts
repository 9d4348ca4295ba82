import { HostError, isHostError } from '../../domain/errors.js';
import type {
  ToolListing,
  UpstreamCall,
  UpstreamDefinition,
  UpstreamHealth,
  UpstreamIdentity,
  UpstreamOutcome,
  UpstreamState,
} from '../../domain/upstream.js';
import { type BackoffOptions, backoffMs } from '../../lib/backoff.js';
import { oneLine } from '../../lib/bounded-text.js';
import type { SecretMask } from '../../lib/mask.js';
import type { Adapter, AdapterEvent } from '../adapter.js';
import { callTool } from './call.js';
import { type ConnectionOptions, type EraHint, type McpConnection, maskFor, openConnection } from './client.js';
import { connectProblem, failureOf, NotSentError } from './failures.js';
import { listAllTools } from './listing.js';

const BACKOFF: BackoffOptions = { firstMs: 200, maxMs: 30_000, factor: 2 };
/** About half a minute of trying; after that only a use tries again. */
const MAX_ATTEMPTS_AFTER_LOSS = 8;
/** A connection that lived this long was a good one: its loss starts a new count of attempts. */
const STABLE_MS = 10_000;
const HEALTH_CHECK_MS = 5_000;
/** How long a failure stands before a use tries again. */
const QUIET_AFTER_FAILURE_MS = 1_000;

/**
 * One MCP server, kept connected: connects at the first use, connects again after a loss, and tells what state it is in.
 *
 * The client library does none of this: a crashed process, a forgotten session and a dead stream each leave it with a
 * connection that fails every request.
 */
export class McpUpstream implements Adapter {
  readonly kind = 'mcp';
  readonly #definition: UpstreamDefinition;
  readonly #options: ConnectionOptions;
  readonly #mask: SecretMask;
  readonly #listeners = new Set<(event: AdapterEvent) => void>();
  readonly #ended = new AbortController();

  #state: UpstreamState = 'idle';
  #reason: string | undefined;
  #since = new Date();
  #connection: McpConnection | undefined;
  #connectedAt = 0;
  #opening: Promise<McpConnection> | undefined;
  #closing: Promise<void> = Promise.resolve();
  #identity: UpstreamIdentity | undefined;
  #era: EraHint = 'auto';
  #attempts = 0;
  #losses = 0;
  #isChecking = false;
  #taskTools: ReadonlySet<string> = new Set();
  #listWarnings: readonly string[] = [];

  constructor(definition: UpstreamDefinition, options: ConnectionOptions) {
    this.#definition = definition;
    this.#options = options;
    this.#mask = maskFor(definition.target);
  }

  get id(): string {
    return this.#definition.id;
  }

  async connect(signal?: AbortSignal): Promise<UpstreamIdentity> {
    return (await this.#connected(signal)).identity;
  }

  async listTools(signal?: AbortSignal): Promise<ToolListing> {
    const connection = await this.#connected(signal);
    try {
      const { tools, warnings, taskTools } = await listAllTools(
        connection.client,
        this.id,
        this.#definition.connectTimeoutMs,
        signal,
      );
      this.#taskTools = taskTools;
      this.#listWarnings = warnings;
      return { tools, warnings };
    } catch (error) {
      signal?.throwIfAborted();
      const { failure, connection: verdict } = failureOf(error);
      const reason = this.#masked(failure.message);
      if (verdict === 'lost') this.#lose(connection, reason);
      throw this.#unavailable(`its tools could not be listed: ${reason}`, error);
    }
  }

  async call(call: UpstreamCall): Promise<UpstreamOutcome> {
    // Twice at most: a connection may turn out to be dead only when a call is not taken by it.
    const first = await this.#callOnce(call);
    const isSafeToRepeat =
      first.status === 'failed' && first.failure.kind === 'not_sent' && this.#connection === undefined;
    return isSafeToRepeat && this.#state === 'degraded' && call.signal?.aborted !== true ? this.#callOnce(call) : first;
  }

  health(): UpstreamHealth {
    return {
      id: this.id,
      state: this.#state,
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      since: this.#since,
      losses: this.#losses,
      ...(this.#identity === undefined ? {} : { identity: this.#identity }),
      warnings: [...this.#listWarnings, ...(this.#connection?.warnings() ?? [])],
    };
  }

  /** Asks the server whether it is there. A connection that does not answer is given up and made again. */
  async check(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || this.#isChecking) return;
    this.#isChecking = true;
    try {
      const { client } = connection;
      if (client.getProtocolEra() === 'modern') await client.discover({ timeout: HEALTH_CHECK_MS });
      else await client.ping({ timeout: HEALTH_CHECK_MS });
    } catch (error) {
      // "No such method" is an answer.
      const { failure } = failureOf(error);
      if (failure.kind !== 'refused') this.#lose(connection, this.#masked(failure.message));
    } finally {
      this.#isChecking = false;
    }
  }

  onEvent(listener: (event: AdapterEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#enter('closed');
    this.#ended.abort(new HostError('shutting_down', `${this.id} was closed`));
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.all([connection?.close(), this.#opening?.catch(() => undefined), this.#closing]);
    this.#listeners.clear();
  }

  async #callOnce(call: UpstreamCall): Promise<UpstreamOutcome> {
    const timeoutMs = call.timeoutMs ?? this.#definition.callTimeoutMs;
    let connection: McpConnection;
    try {
      call.signal?.throwIfAborted();
      connection = this.#connection ?? (await this.#connectedWithin(timeoutMs, call.signal));
    } catch (error) {
      const kind = call.signal?.aborted === true ? 'cancelled' : 'not_sent';
      const message = isHostError(error)
        ? error.message
        : `server ${JSON.stringify(this.id)} is not connected${this.#reason === undefined ? '' : `: ${this.#reason}`}`;
      return { status: 'failed', failure: { kind, mayHaveRun: false, message } };
    }
    const { outcome, connection: verdict } = await callTool(connection.client, {
      ...call,
      timeoutMs,
      asTask: this.#taskTools.has(call.tool),
    });
    if (outcome.status === 'answered') return outcome;
    const failure = { ...outcome.failure, message: this.#mask.apply(outcome.failure.message) };
    if (verdict === 'lost') this.#lose(connection, failure.message);
    return { status: 'failed', failure };
  }

  #connectedWithin(waitMs: number, signal: AbortSignal | undefined): Promise<McpConnection> {
    const patience = AbortSignal.timeout(waitMs);
    return this.#connected(signal === undefined ? patience : AbortSignal.any([signal, patience]));
  }

  /** The connection, made now if there is none. Waits for an attempt that is already under way. */
  async #connected(signal?: AbortSignal): Promise<McpConnection> {
    signal?.throwIfAborted();
    if (this.#state === 'closed') throw new HostError('shutting_down', `${this.id} was closed`);
    if (this.#connection !== undefined) return this.#connection;
    if (this.#opening === undefined) {
      // A loop over a server that is down must not start it a thousand times.
      if (this.#state === 'failed' && Date.now() - this.#since.getTime() < QUIET_AFTER_FAILURE_MS) {
        throw this.#unavailable(this.#reason ?? 'it failed', undefined);
      }
      this.#enter('connecting');
      this.#attempts = 0;
      this.#open(1);
    }
    return abortable(this.#opening as Promise<McpConnection>, signal);
  }

  /** Starts up to `attempts` tries; `#opening` is there for as long as they last. */
  #open(attempts: number): void {
    const opening = this.#tryRepeatedly(attempts).finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    opening.catch(() => undefined); // told by the state where nobody waits
    this.#opening = opening;
  }

  async #tryRepeatedly(attempts: number): Promise<McpConnection> {
    for (;;) {
      if (this.#attempts > 0) await this.#pauseBeforeAttempt();
      this.#attempts += 1;
      try {
        return await this.#openOnce();
      } catch (error) {
        const reason = this.#masked(this.#reasonOf(error));
        if (this.#ended.signal.aborted) throw new HostError('shutting_down', `${this.id} was closed`);
        if (this.#attempts >= attempts) {
          this.#enter('failed', reason);
          throw this.#unavailable(reason, error);
        }
        this.#enter(this.#state, reason);
      }
    }
  }

  async #openOnce(): Promise<McpConnection> {
    await this.#closing;
    const timeout = AbortSignal.timeout(this.#definition.connectTimeoutMs);
    const signal = AbortSignal.any([this.#ended.signal, timeout]);
    let current: McpConnection | undefined;
    const connection = await openConnection(
      this.#definition,
      this.#options,
      {
        onToolsChanged: () => this.#emit({ type: 'changed' }),
        onClosed: (reason) => current !== undefined && this.#lose(current, reason),
        onTrouble: () => void this.check(),
      },
      signal,
      this.#era,
    );
    current = connection;
    if (connection.client.transport === undefined)
      throw new NotSentError('it ended the connection right after the handshake');
    const wasConnectedBefore = this.#identity !== undefined;
    this.#connection = connection;
    this.#connectedAt = performance.now();
    this.#identity = connection.identity;
    // The second time, an older server need not be asked again whether it is a newer one.
    if (connection.client.getProtocolEra() === 'legacy') this.#era = 'legacy';
    this.#enter('ready');
    // Whatever changed while we were away, nobody has told us.
    if (wasConnectedBefore) this.#emit({ type: 'changed' });
    return connection;
  }

  #lose(connection: McpConnection, reason: string): void {
    if (this.#connection !== connection || this.#state === 'closed') return;
    this.#connection = undefined;
    this.#losses += 1;
    this.#closing = connection.close().catch(() => undefined);
    if (performance.now() - this.#connectedAt > STABLE_MS) this.#attempts = 0;
    this.#enter('degraded', reason);
    this.#open(MAX_ATTEMPTS_AFTER_LOSS);
  }

  #pauseBeforeAttempt(): Promise<void> {
    const pause = new Promise<void>((resolve) => setTimeout(resolve, backoffMs(this.#attempts, BACKOFF)).unref());
    return abortable(pause, this.#ended.signal);
  }

  #enter(state: UpstreamState, reason?: string): void {
    if (this.#state === 'closed') return;
    if (state !== this.#state) this.#since = new Date();
    this.#state = state;
    this.#reason = reason;
    this.#emit({ type: 'state', health: this.health() });
  }

  #emit(event: AdapterEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #reasonOf(error: unknown): string {
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      return `it did not answer within ${this.#definition.connectTimeoutMs} ms`;
    }
    return isHostError(error) ? error.message : connectProblem(error);
  }

  #unavailable(reason: string, cause: unknown): HostError {
    return new HostError('upstream_unavailable', `server ${JSON.stringify(this.id)}: ${reason}`, { cause });
  }

  #masked(text: string): string {
    return oneLine(this.#mask.apply(text), 600);
  }
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
