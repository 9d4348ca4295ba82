import type { UpstreamAuthorizer } from '../../domain/authorization.js';
import { HostError, isHostError } from '../../domain/errors.js';
import {
  type Crash,
  connectTimeoutKey,
  type McpDefinition,
  type UpstreamIdentity,
  type UpstreamState,
} from '../../domain/upstream.js';
import { type BackoffOptions, backoffMs } from '../../lib/async/backoff.js';
import { inSeconds } from '../../lib/async/seconds.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { SecretMask } from '../../lib/secrets/mask.js';
import { oneLine, oneLineWithEnd } from '../../lib/text/bounded-text.js';
import { ConnectTimeoutError, type EraHint, type McpConnection, type UpstreamOptions } from './connection.js';
import { notMcp, STDERR_TITLE } from './stdio/not-mcp.js';
import { maskFor } from './target-mask.js';

const BACKOFF: BackoffOptions = { firstMs: 200, maxMs: 30_000, factor: 2 };
/** About half a minute of retries. After that only a use tries again. */
const MAX_ATTEMPTS_AFTER_LOSS = 8;
/** A connection that lived this long was stable: its loss starts a new count of attempts. */
const STABLE_MS = 10_000;
const HEALTH_CHECK_MS = 5_000;
/** How long after a failure a use fails at once, without a new attempt. */
const QUIET_AFTER_FAILURE_MS = 1_000;
const MAX_REASON_CHARACTERS = 600;
/** How much is kept of a process's stderr before it ended. */
const MAX_CRASH_LINES = 8;
const MAX_CRASH_LINE_CHARACTERS = 200;
/** A server that printed text and then sent no message for this long is assumed not to speak MCP. */
const NOISE_PATIENCE_MS = 5_000;
/** How long a server that sent too much is quarantined: the first time, and at most. Each time twice as long as before. */
const QUARANTINE = { firstMs: 60_000, maxMs: 3_600_000, factor: 2 };

export interface SupervisorEvents {
  onToolsChanged(): void;
  onState(): void;
}

/** The state of a connection, and the reason for it. */
export interface SupervisedState {
  readonly state: UpstreamState;
  readonly reason?: string;
  readonly crash?: Crash;
  readonly needsLogin?: boolean;
  readonly quarantinedUntilMs?: number;
  readonly since: Date;
  readonly losses: number;
  readonly identity?: UpstreamIdentity;
  readonly warnings: readonly string[];
}

/**
 * Keeps one server connected: connects at the first use, reconnects after a loss, and tracks the state.
 *
 * The client library does none of this: a crashed process, a forgotten session or a dead stream each leave it with a connection
 * that fails every request.
 */
export class Supervisor {
  readonly #definition: McpDefinition;
  readonly #options: UpstreamOptions;
  readonly #events: SupervisorEvents;
  readonly #mask;
  readonly #ended = new AbortController();

  #state: UpstreamState = 'idle';
  #reason: string | undefined;
  #crash: Crash | undefined;
  #needsLogin = false;
  #since = new Date();
  #connection: McpConnection | undefined;
  #connectedAt = 0;
  #opening: Promise<McpConnection> | undefined;
  #closing: Promise<void> = Promise.resolve();
  #checking: Promise<void> | undefined;
  #identity: UpstreamIdentity | undefined;
  #authorizer: UpstreamAuthorizer | undefined;
  #era: EraHint = 'auto';
  #attempts = 0;
  #losses = 0;
  /** While connecting: the first line that the server printed instead of messages. */
  #noise: string | undefined;
  #noiseTimer: NodeJS.Timeout | undefined;
  /** The server prints text and sends no messages. It still gets its time to connect, but callers need not wait for that. */
  #isOnlyNoisy = false;
  readonly #unlessNoisy = new Set<() => void>();
  #quarantines = 0;
  #quarantinedUntilMs = 0;

  constructor(definition: McpDefinition, options: UpstreamOptions, events: SupervisorEvents) {
    this.#definition = definition;
    this.#options = options;
    this.#events = events;
    this.#mask = maskFor(definition.target);
  }

  /** The current connection, without waiting for one. */
  get current(): McpConnection | undefined {
    return this.#connection;
  }

  describe(): SupervisedState {
    const reason = this.#reason ?? (this.#noise === undefined ? undefined : this.masked(notMcp(this.#noise)));
    return {
      state: this.#isOnlyNoisy && this.#state === 'connecting' ? 'failed' : this.#state,
      ...omitUndefined({ reason, crash: this.#crash }),
      ...(this.#needsLogin ? { needsLogin: true } : {}),
      ...(this.#state === 'quarantined' ? { quarantinedUntilMs: this.#quarantinedUntilMs } : {}),
      since: this.#since,
      losses: this.#losses,
      ...omitUndefined({ identity: this.#identity }),
      warnings: this.#connection?.warnings() ?? [],
    };
  }

  /** The connection, opened now if there is none. Waits for an attempt that is already in progress. */
  async connected(signal?: AbortSignal): Promise<McpConnection> {
    signal?.throwIfAborted();
    if (this.#state === 'closed') throw this.#closedError();
    if (this.#connection !== undefined) return this.#connection;
    if (this.#isQuarantined) throw this.unavailable(this.#reason ?? 'it is quarantined');
    if (this.#opening === undefined) {
      // A loop of calls to a server that is down must not start it a thousand times.
      if (this.#state === 'failed' && Date.now() - this.#since.getTime() < QUIET_AFTER_FAILURE_MS) {
        throw this.unavailable(this.#reason ?? 'it failed');
      }
      this.#enter('connecting');
      this.#attempts = 0;
      this.#open(1);
    }
    return abortable(this.#opening as Promise<McpConnection>, signal);
  }

  /** The same, but gives up on a server that prints text instead of messages as soon as that is clear. */
  connectedUnlessNoisy(signal?: AbortSignal): Promise<McpConnection> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(this.unavailable(this.masked(notMcp(this.#noise ?? ''))));
      if (this.#isOnlyNoisy && this.#opening !== undefined) giveUp();
      this.#unlessNoisy.add(giveUp);
      void this.connected(signal)
        .then(resolve, reject)
        .finally(() => this.#unlessNoisy.delete(giveUp));
    });
  }

  /**
   * Pings the server. A connection that does not answer is closed and reopened, but silence alone proves nothing while the server
   * may be busy with calls.
   */
  check(isBusy: boolean): Promise<void> {
    this.#checking ??= this.#ask(isBusy).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Gives up a connection and starts to open a new one. */
  lose(connection: McpConnection, reason: string): void {
    if (this.#connection !== connection || this.#state === 'closed') return;
    this.#connection = undefined;
    this.#losses += 1;
    this.#closing = connection.close().catch(() => undefined);
    if (performance.now() - this.#connectedAt > STABLE_MS) this.#attempts = 0;
    this.#enter('degraded', this.masked(reason));
    this.#open(MAX_ATTEMPTS_AFTER_LOSS);
  }

  /**
   * Disconnects a server that exceeded the read limits, and does not reconnect for a while: a flood costs the same each time the
   * server is restarted.
   */
  quarantine(reason: string): void {
    if (this.#state === 'closed' || this.#isQuarantined) return;
    if (performance.now() - this.#connectedAt > QUARANTINE.maxMs) this.#quarantines = 0;
    this.#quarantines += 1;
    const restMs = Math.min(QUARANTINE.maxMs, QUARANTINE.firstMs * QUARANTINE.factor ** (this.#quarantines - 1));
    this.#quarantinedUntilMs = Date.now() + restMs;
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) {
      this.#losses += 1;
      this.#closing = connection.close().catch(() => undefined);
    }
    const until = new Date(this.#quarantinedUntilMs).toISOString().slice(11, 19);
    this.#enter('quarantined', this.masked(`${reason}; it is not used again before ${until} UTC`));
  }

  /** A person wants a new connection: the current one ends, and a failed server can be tried at once. A quarantine stays. */
  reconnect(): void {
    if (this.#connection !== undefined) return this.lose(this.#connection, 'a person asked for a new connection');
    if (this.#state === 'failed') this.#enter('idle');
  }

  /** The last stderr output of its process, without credentials. Undefined if there is no process or it wrote nothing. */
  lastCrash(): Crash | undefined {
    return this.#crash ?? this.#crashOf(this.#connection?.diagnosis() ?? '');
  }

  /** Closes for good. Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#enter('closed');
    this.#ended.abort(this.#closedError());
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.all([connection?.close(), this.#opening?.catch(() => undefined), this.#closing]);
  }

  /** A text about this server that may be shown: without its credentials, on one line, with its end kept. */
  masked(text: string): string {
    return oneLineWithEnd(this.#withoutSecrets(text), MAX_REASON_CHARACTERS);
  }

  #withoutSecrets(text: string): string {
    const lent = new SecretMask(this.#authorizer?.secrets() ?? []);
    return lent.apply(this.#mask.apply(text));
  }

  #crashOf(text: string): Crash | undefined {
    const [before = '', stderr] = this.#withoutSecrets(text).split(STDERR_TITLE);
    if (stderr === undefined) return undefined;
    const lines = stderr.split('\n').map((line) => oneLine(line, MAX_CRASH_LINE_CHARACTERS));
    return {
      summary: oneLine(before.replace(/[;:\s]+$/, '')),
      lines: lines.filter((line) => line !== '').slice(-MAX_CRASH_LINES),
    };
  }

  get #isQuarantined(): boolean {
    return Date.now() < this.#quarantinedUntilMs;
  }

  unavailable(reason: string, cause?: unknown): HostError {
    const code = this.#needsLogin ? 'login_needed' : 'upstream_unavailable';
    return new HostError(code, `server ${JSON.stringify(this.#definition.id)}: ${reason}`, { cause });
  }

  async #ask(isBusy: boolean): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    const problem = await connection.ping(HEALTH_CHECK_MS);
    if (problem === undefined) return;
    const { kind, message } = problem.failure;
    const isAnswer = kind === 'refused';
    const mayBeBusy = kind === 'timeout' && isBusy;
    if (!isAnswer && !mayBeBusy) this.lose(connection, message);
  }

  /** Starts up to `maxAttempts` attempts. `#opening` is set while they last. */
  #open(maxAttempts: number): void {
    const opening = this.#tryRepeatedly(maxAttempts).finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    opening.catch(() => undefined); // if nobody waits, the state reports it
    this.#opening = opening;
  }

  async #tryRepeatedly(maxAttempts: number): Promise<McpConnection> {
    for (;;) {
      if (this.#attempts > 0) await this.#pauseBeforeAttempt();
      this.#attempts += 1;
      try {
        return await this.#openOnce();
      } catch (error) {
        if (this.#ended.signal.aborted) throw this.#closedError();
        if (this.#isQuarantined) throw this.unavailable(this.#reason ?? 'it is quarantined', error);
        this.#era = 'auto'; // the server may have come back as another version
        const text = this.#reasonOf(error);
        const reason = this.masked(text);
        const needsLogin = isHostError(error, 'login_needed');
        // Nobody logs in during a retry pause: the next use tries again.
        if (needsLogin || this.#attempts >= maxAttempts) {
          this.#enter('failed', reason, needsLogin);
          this.#crash = this.#crashOf(text);
          throw this.unavailable(reason, error);
        }
        this.#enter(this.#state, reason);
      }
    }
  }

  async #openOnce(): Promise<McpConnection> {
    await this.#closing;
    this.#forgetNoise();
    // Not AbortSignal.timeout in AbortSignal.any: Node 20 may garbage-collect it, and then it never fires.
    const over = new AbortController();
    const end = (): void => over.abort(this.#ended.signal.reason);
    const timer = setTimeout(
      () => over.abort(new DOMException('too late', 'TimeoutError')),
      this.#definition.connectTimeoutMs,
    );
    this.#ended.signal.addEventListener('abort', end, { once: true });
    if (this.#ended.signal.aborted) end();
    try {
      return await this.#connect(over.signal);
    } finally {
      clearTimeout(timer);
      clearTimeout(this.#noiseTimer);
      this.#ended.signal.removeEventListener('abort', end);
    }
  }

  async #connect(signal: AbortSignal): Promise<McpConnection> {
    let opened: McpConnection | undefined;
    const { openConnection } = await import('./client.js');
    const { openAuthorizer, ...options } = this.#options;
    this.#authorizer ??= await openAuthorizer?.();
    const connection = await openConnection(
      this.#definition,
      this.#authorizer === undefined ? options : { ...options, authorizer: this.#authorizer },
      {
        onToolsChanged: () => this.#events.onToolsChanged(),
        onClosed: (reason) => opened !== undefined && this.lose(opened, reason),
        onTrouble: () => void this.check(true),
        onNoise: (line) => opened === undefined && this.#heardNoise(line),
        onOverBudget: (reason) => this.quarantine(reason),
      },
      signal,
      this.#era,
    );
    opened = connection;
    const isLate = this.#isOnlyNoisy;
    this.#forgetNoise();
    if (this.#isQuarantined) this.#closing = connection.close().catch(() => undefined);
    if (!connection.isOpen || this.#isQuarantined) throw new Error('it ended the connection right after the handshake');
    const wasConnectedBefore = this.#identity !== undefined;
    this.#connection = connection;
    this.#connectedAt = performance.now();
    this.#identity = connection.identity;
    // On a reconnect, an older server need not be probed for the newer era again.
    this.#era = connection.era;
    this.#enter('ready');
    // Changes while disconnected were not announced. Callers that gave up on a noisy server learn that it is ready.
    if (wasConnectedBefore || isLate) this.#events.onToolsChanged();
    return connection;
  }

  #heardNoise(line: string): void {
    if (this.#noise !== undefined) return;
    this.#noise = line;
    this.#noiseTimer = setTimeout(() => {
      this.#isOnlyNoisy = true;
      for (const giveUp of this.#unlessNoisy) giveUp();
    }, NOISE_PATIENCE_MS);
  }

  #forgetNoise(): void {
    clearTimeout(this.#noiseTimer);
    this.#noise = undefined;
    this.#isOnlyNoisy = false;
  }

  #pauseBeforeAttempt(): Promise<void> {
    const pause = new Promise<void>((resolve) => setTimeout(resolve, backoffMs(this.#attempts, BACKOFF)).unref());
    return abortable(pause, this.#ended.signal);
  }

  #enter(state: UpstreamState, reason?: string, needsLogin = false): void {
    if (this.#state === 'closed') return;
    this.#needsLogin = needsLogin;
    if (state !== this.#state) this.#since = new Date();
    this.#state = state;
    this.#reason = reason;
    this.#crash = undefined;
    this.#events.onState();
  }

  #reasonOf(error: unknown): string {
    const { id, connectTimeoutMs } = this.#definition;
    if (error instanceof ConnectTimeoutError) {
      const said = error.diagnosis === undefined ? 'it was silent' : error.diagnosis;
      return `no answer for ${inSeconds(connectTimeoutMs)} (${connectTimeoutKey(id)} sets how long it is given): ${said}`;
    }
    return error instanceof Error ? error.message : String(error);
  }

  #closedError(): HostError {
    return new HostError('shutting_down', `server ${JSON.stringify(this.#definition.id)} was closed`);
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
