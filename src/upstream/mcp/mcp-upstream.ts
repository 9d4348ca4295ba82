import { isHostError } from '../../domain/errors.js';
import { authorizationOf } from '../../domain/targets/target-kind.js';
import {
  type Crash,
  callTimeoutOf,
  connectTimeoutKey,
  type McpDefinition,
  type ToolListing,
  type UpstreamCall,
  type UpstreamFailure,
  type UpstreamHealth,
  type UpstreamIdentity,
  type UpstreamOutcome,
} from '../../domain/upstream.js';
import { inSeconds } from '../../lib/async/seconds.js';
import type { Adapter, AdapterEvent } from '../adapter.js';
import type { McpConnection, UpstreamOptions } from './connection.js';
import { Supervisor } from './supervisor.js';

/** A longer delay would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** An MCP server as an upstream: its tools and calls, over a connection that the supervisor maintains. */
export class McpUpstream implements Adapter {
  readonly kind = 'mcp';
  readonly #definition: McpDefinition;
  readonly #supervisor: Supervisor;
  readonly #listeners = new Set<(event: AdapterEvent) => void>();
  #taskTools: ReadonlySet<string> = new Set();
  #listWarnings: readonly string[] = [];
  #callsInFlight = 0;

  constructor(definition: McpDefinition, options: UpstreamOptions) {
    this.#definition = definition;
    this.#supervisor = new Supervisor(definition, options, {
      onToolsChanged: () => this.#emit({ type: 'changed' }),
      onState: () => this.#emit({ type: 'state', health: this.health() }),
    });
  }

  get id(): string {
    return this.#definition.id;
  }

  get credentialSetting(): 'env' | 'headers' | undefined {
    const { target } = this.#definition;
    if (target.kind === 'stdio') return 'env';
    const isSetByHand = authorizationOf(target.headers) !== undefined;
    return target.kind === 'http' && !isSetByHand ? undefined : 'headers';
  }

  async connect(signal?: AbortSignal): Promise<UpstreamIdentity> {
    return (await this.#supervisor.connected(signal)).identity;
  }

  async listTools(signal?: AbortSignal): Promise<ToolListing> {
    const connection = await this.#supervisor.connectedUnlessNoisy(signal);
    const listed = await connection.list(this.#definition.connectTimeoutMs, signal);
    if (!('failure' in listed)) {
      this.#taskTools = listed.taskTools;
      this.#listWarnings = listed.warnings;
      return { tools: listed.tools, warnings: listed.warnings };
    }
    signal?.throwIfAborted();
    const { failure, connection: verdict } = listed;
    if (verdict === 'lost') this.#supervisor.lose(connection, failure.message);
    if (verdict === 'suspect') void this.#supervisor.check(this.#callsInFlight > 0);
    if (verdict === 'over_budget') this.#supervisor.quarantine(failure.message);
    const { connectTimeoutMs } = this.#definition;
    throw this.#supervisor.unavailable(
      failure.kind === 'timeout'
        ? `it did not list its tools within ${inSeconds(connectTimeoutMs)} (${connectTimeoutKey(this.id)} sets how long it is given)`
        : `its tools could not be listed: ${this.#supervisor.masked(failure.message)}`,
    );
  }

  async call(call: UpstreamCall): Promise<UpstreamOutcome> {
    const first = await this.#callOnce(call);
    // A dead connection may only be noticed when it does not accept a call. The call is then made on the next connection.
    if (first.status !== 'failed' || first.failure.kind !== 'not_sent') return first;
    const isBeingReplaced = this.#supervisor.describe().state === 'degraded';
    return isBeingReplaced && call.signal?.aborted !== true ? this.#callOnce(call) : first;
  }

  health(): UpstreamHealth {
    const { warnings, ...state } = this.#supervisor.describe();
    return { id: this.id, ...state, warnings: [...this.#listWarnings, ...warnings] };
  }

  lastCrash(): Crash | undefined {
    return this.#supervisor.lastCrash();
  }

  reconnect(): void {
    this.#supervisor.reconnect();
  }

  check(): Promise<void> {
    return this.#supervisor.check(this.#callsInFlight > 0);
  }

  onEvent(listener: (event: AdapterEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#supervisor.close();
    this.#listeners.clear();
  }

  async #callOnce(call: UpstreamCall): Promise<UpstreamOutcome> {
    const timeoutMs = callTimeoutOf(this.#definition, call);
    let connection: McpConnection;
    try {
      call.signal?.throwIfAborted();
      connection = this.#supervisor.current ?? (await this.#connectedWithin(timeoutMs, call.signal));
    } catch (error) {
      return { status: 'failed', failure: this.#notConnected(error, call.signal?.aborted === true) };
    }
    this.#callsInFlight += 1;
    const asTask = this.#taskTools.has(call.tool);
    const { outcome, connection: verdict } = await connection.call({ asTask, ...call, timeoutMs });
    this.#callsInFlight -= 1;
    if (outcome.status === 'answered') return outcome;
    const failure = { ...outcome.failure, message: this.#supervisor.masked(outcome.failure.message) };
    if (verdict === 'lost') this.#supervisor.lose(connection, failure.message);
    // Awaited below if it decides whether the call can be repeated.
    const checked = verdict === 'suspect' ? this.#supervisor.check(this.#callsInFlight > 0) : undefined;
    if (failure.kind === 'not_sent') await checked;
    return { status: 'failed', failure };
  }

  async #connectedWithin(waitMs: number, signal: AbortSignal | undefined): Promise<McpConnection> {
    // Not AbortSignal.timeout in AbortSignal.any: Node 20 may garbage-collect it, and then it never fires.
    const over = new AbortController();
    const end = (): void => over.abort(signal?.reason);
    const timer = setTimeout(end, Math.min(waitMs, MAX_TIMER_MS));
    signal?.addEventListener('abort', end, { once: true });
    try {
      return await this.#supervisor.connected(over.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
  }

  #notConnected(error: unknown, wasCancelled: boolean): UpstreamFailure {
    if (wasCancelled) return { kind: 'cancelled', mayHaveRun: false, message: 'the call was cancelled' };
    const { reason = 'it did not answer in time' } = this.#supervisor.describe();
    const message = isHostError(error)
      ? error.message
      : `server ${JSON.stringify(this.id)} is not connected: ${reason}`;
    return { kind: isHostError(error, 'login_needed') ? 'unauthorized' : 'not_sent', mayHaveRun: false, message };
  }

  #emit(event: AdapterEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
