import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  type jsonSchemaValidator,
  PROTOCOL_VERSION_META_KEY,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
} from '@modelcontextprotocol/client';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { McpTarget } from '../../domain/targets/targets.js';
import type { McpDefinition, UpstreamIdentity } from '../../domain/upstream.js';
import { backoffMs } from '../../lib/async/backoff.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { SecretMask } from '../../lib/secrets/mask.js';
import { BoundedLines, oneLine, oneLineWithEnd } from '../../lib/text/bounded-text.js';
import { callTool } from './calls/call.js';
import { type Channel, channelOpener, type OpenChannel } from './channel.js';
import {
  type ConnectionEvents,
  type ConnectionOptions,
  ConnectTimeoutError,
  type EraHint,
  type McpConnection,
} from './connection.js';
import { connectProblem, diagnosisOf, failureOf } from './failures.js';
import { listAllTools } from './listing.js';
import { Questions } from './questions/questions.js';
import { maskFor } from './target-mask.js';

/** The supervisor's signal ends an attempt. The library's own timeouts must not fire first, because they know less. */
const SIGNAL_FIRST_MS = 5_000;
const MAX_WARNINGS = 20;
const MAX_REASON_CHARACTERS = 600;
/** Limits on what a server says about itself. */
const MAX_NAME_CHARACTERS = 200;
const MAX_INSTRUCTIONS_CHARACTERS = 100_000;
const LISTEN_BACKOFF = { firstMs: 1_000, maxMs: 60_000, factor: 2 };

/** Connects and does the handshake. Throws an error with a reason for people, not masked yet. Nothing is left running after an error. */
export async function openConnection(
  definition: McpDefinition,
  options: ConnectionOptions,
  events: ConnectionEvents,
  signal: AbortSignal,
  era: EraHint,
): Promise<McpConnection> {
  try {
    return await openInAnyWay(definition, options, events, signal, era);
  } catch (error) {
    if (signal.aborted) {
      const isLate = (signal.reason as { name?: unknown } | undefined)?.name === 'TimeoutError';
      throw isLate ? new ConnectTimeoutError(diagnosisOf(error)) : signal.reason;
    }
    const problem = connectProblem(error);
    throw failureOf(error).failure.kind === 'unauthorized'
      ? new HostError('login_needed', problem, { cause: error })
      : new Error(problem, { cause: error });
  }
}

async function openInAnyWay(
  definition: McpDefinition,
  options: ConnectionOptions,
  events: ConnectionEvents,
  signal: AbortSignal,
  era: EraHint,
): Promise<McpConnection> {
  const { target } = definition;
  const open = await channelOpener(target.kind);
  const attempt = (way: McpTarget, mode: EraHint) =>
    new Attempt(open, { ...definition, target: way }, options, events, mode).run(signal);
  if (target.kind !== 'http') {
    try {
      return await attempt(target, era);
    } catch (error) {
      // Some older servers exit if they get a request before the handshake. Start a fresh one and skip the probe.
      const diedOfTheQuestion = error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
      if (era === 'legacy' || !diedOfTheQuestion || signal.aborted) throw error;
      return attempt(target, 'legacy');
    }
  }
  if (target.flavour !== 'auto') return attempt(target, era);
  try {
    return await attempt({ ...target, flavour: 'streamable' }, era);
  } catch (error) {
    if (!isForOlderTransport(error) || signal.aborted) throw error;
    // If neither transport works, the first error is the better one to show.
    return attempt({ ...target, flavour: 'sse' }, 'legacy').catch(() => Promise.reject(error));
  }
}

/** Whether the status says that the server accepts no POST here, so it may use the older transport. */
function isForOlderTransport(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405, 406, 415].includes(error.status);
}

class Attempt {
  readonly #definition: McpDefinition;
  readonly #events: ConnectionEvents;
  readonly #client: Client;
  readonly #mask: SecretMask;
  readonly #warnings = new BoundedLines(MAX_WARNINGS);
  readonly #channel: Channel;
  readonly #questions: Questions;
  readonly #clientInfo: ConnectionOptions['clientInfo'];
  #isOpen = false;
  #end: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    open: OpenChannel,
    definition: McpDefinition,
    options: ConnectionOptions,
    events: ConnectionEvents,
    era: EraHint,
  ) {
    this.#definition = definition;
    this.#events = events;
    this.#clientInfo = options.clientInfo;
    this.#mask = maskFor(definition.target);
    this.#channel = open(definition, options, {
      warn: (warning) => this.#warnings.add(this.#mask.apply(warning)),
      noise: (line) => events.onNoise(line),
      overBudget: (reason) => events.onOverBudget(reason),
    });
    this.#questions = new Questions(definition.id, options.audience, this.#channel.transport === 'streamable-http');
    this.#client = new Client(options.clientInfo, {
      capabilities: this.#questions.capabilities(),
      jsonSchemaValidator: NO_VALIDATOR,
      versionNegotiation: { mode: era, probe: { timeoutMs: definition.connectTimeoutMs + SIGNAL_FIRST_MS } },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: () => events.onToolsChanged() },
      },
    });
    this.#questions.install(this.#client);
    this.#client.onclose = () => this.#closed();
    this.#client.onerror = (error) => this.#trouble(error);
  }

  async run(signal: AbortSignal): Promise<McpConnection> {
    // The library's own signal does not reach every wait in a handshake. Closing the transport does.
    let known: string | undefined;
    const abort = (): void => {
      // Read before closing: afterwards it would describe the end that we caused.
      known = this.#channel.diagnosis?.();
      void this.#close();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const timeout = this.#definition.connectTimeoutMs + SIGNAL_FIRST_MS;
      await this.#client.connect(this.#channel.sanitizing, { timeout, signal });
      signal.throwIfAborted();
    } catch (error) {
      const diagnosis = signal.aborted ? known : this.#channel.diagnosis?.();
      await this.#close();
      throw error instanceof Error && diagnosis !== undefined ? Object.assign(error, { diagnosis }) : error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
    this.#isOpen = true;
    void this.#keepListening();
    return this.#connection();
  }

  #connection(): McpConnection {
    const client = this.#client;
    const { id } = this.#definition;
    const isModern = client.getProtocolEra() === 'modern';
    const path = {
      client,
      questions: this.#questions,
      direct:
        this.#channel.kind === 'single'
          ? { channel: this.#channel.sanitizing, envelope: isModern ? this.#envelope() : undefined }
          : undefined,
    };
    const hasParameterHeaders = isModern && this.#channel.transport === 'streamable-http';
    return {
      identity: this.#identity(),
      era: isModern ? 'auto' : 'legacy',
      get isOpen() {
        return client.transport !== undefined;
      },
      warnings: () => this.#warnings.list(),
      diagnosis: () => this.#channel.diagnosis?.(),
      call: (call) => callTool(path, call),
      list: (timeoutMs, signal) =>
        listAllTools(client, { serverId: id, hasParameterHeaders, timeoutMs, signal }).catch(failureOf),
      ping: (timeoutMs) =>
        (isModern ? client.discover({ timeout: timeoutMs }) : client.ping({ timeout: timeoutMs })).then(
          () => undefined,
          failureOf,
        ),
      close: () => this.#close(),
    };
  }

  /** The same envelope that the library puts into every message of the newer era. */
  #envelope(): JsonObject {
    return {
      [PROTOCOL_VERSION_META_KEY]: this.#client.getNegotiatedProtocolVersion() ?? '',
      [CLIENT_INFO_META_KEY]: { ...this.#clientInfo },
      [CLIENT_CAPABILITIES_META_KEY]: this.#questions.capabilities() as JsonObject,
    };
  }

  #identity(): UpstreamIdentity {
    const info = this.#client.getServerVersion();
    const instructions = this.#client.getInstructions();
    return {
      ...omitUndefined({
        name: info?.name?.slice(0, MAX_NAME_CHARACTERS),
        version: info?.version?.slice(0, MAX_NAME_CHARACTERS),
        instructions: instructions?.slice(0, MAX_INSTRUCTIONS_CHARACTERS),
      }),
      protocolVersion: this.#client.getNegotiatedProtocolVersion() ?? 'unknown',
      transport: this.#channel.transport,
    };
  }

  /** In the newer protocol, tool changes arrive on a separate stream, which is reopened when it ends. */
  async #keepListening(): Promise<void> {
    let subscription = this.#client.autoOpenedSubscription;
    for (let attempt = 1; subscription !== undefined; attempt += 1) {
      const openedAt = performance.now();
      const how = await subscription.closed;
      if (how === 'local' || !this.#isOpen || this.#closing !== undefined) return;
      this.#events.onTrouble('the stream of changes ended');
      if (performance.now() - openedAt > LISTEN_BACKOFF.maxMs) attempt = 1;
      await new Promise<void>((resolve) => setTimeout(resolve, backoffMs(attempt, LISTEN_BACKOFF)).unref());
      if (!this.#isOpen || this.#closing !== undefined) return;
      subscription = await this.#client.listen({ toolsListChanged: true }).catch(() => undefined);
      // Changes in between were not announced.
      if (subscription !== undefined) this.#events.onToolsChanged();
    }
  }

  async #dispose(): Promise<void> {
    try {
      await this.#channel.dispose();
    } finally {
      await this.#client.close();
    }
  }

  #close(): Promise<void> {
    this.#closing ??= this.#dispose();
    return this.#closing;
  }

  #closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const end = this.#end ?? this.#channel.diagnosis?.() ?? 'the connection was closed';
    this.#events.onClosed(oneLineWithEnd(this.#mask.apply(end), MAX_REASON_CHARACTERS));
  }

  #trouble(error: Error): void {
    if (!this.#isOpen || this.#closing !== undefined) return;
    // Late progress of a call that has ended: common, and harmless.
    if (error.message.startsWith('Received a progress notification for an unknown token')) return;
    const reason = oneLine(this.#mask.apply(error.message));
    this.#warnings.add(reason);
    // The event source reconnects by itself, but to a session that was never initialized. That is not a usable connection.
    if (error instanceof SseError) {
      this.#end = `the event stream ended: ${reason}`;
      void this.#close();
      return;
    }
    // A pipe or a socket reports its own end. Over HTTP the server must be pinged.
    if (this.#channel.kind === 'http') this.#events.onTrouble(reason);
  }
}

/** The library's own validator compiles schemas to code. The broker checks results with an evaluator that does not. */
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};
