import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ERRORS, isHostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Principal } from '../../domain/principal.js';
import type { TraceContext } from '../../domain/trace.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { visibleText } from '../../lib/text/visible-text.js';
import { hostErrorOf } from '../../profiles/unified/render.js';
import type { Gate, Refused } from '../http/gate.js';
import { isTooDeep } from '../http/json-body.js';
import { bearerOf } from '../http/principals.js';
import { traceOfHeaders } from '../http/request-trace.js';
import { refusalBody } from './errors.js';
import { newRequestId, PREFIX, type RestContext } from './rest-context.js';
import { readMessage, type WebSocketMessage } from './websocket-messages.js';

export const SOCKET_PATH = `${PREFIX}/ws`;
/** Our subprotocol. A browser cannot set headers, so it offers its token as a second subprotocol. */
const SUBPROTOCOL = 'codemode';
const TOKEN_PREFIX = 'bearer.';
const MAX_CONNECTIONS = 2_000;
/** Further concurrent runs of a connection are refused by id. The connection stays open. */
const MAX_RUNS_PER_CONNECTION = 64;
/** A client that sends faster than this is flooding: its connection is closed. */
const MAX_MESSAGES_PER_SECOND = 200;
/** Backpressure limit: a client with more unread output than this is not waited for. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** Limit for all connections of a caller together, incomplete messages included. */
const MAX_HELD_BYTES_OF_CALLER = 128 * 1024 * 1024;
/** A connection that holds less does not trigger the sum over all connections. */
const LITTLE_BYTES = 1024 * 1024;
/** Time for the peer to close its side. The library would wait for half a minute. */
const GOODBYE_MS = 1_000;
/** A close frame has room for 123 bytes. */
const MAX_REASON_CHARACTERS = 100;
const CLOSE = { policy: 1008, tooMuch: 1009, goingAway: 1001 } as const;

/** `/api/v1/ws`: many runs on one connection, with their logs while they run. A closed connection cancels its runs. */
export class WebSocketApi {
  readonly #rest: RestContext;
  readonly #connections = new Set<Connection>();
  readonly #maxHeldBytes: number;
  #server: WebSocketServer | undefined;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(rest: RestContext, maxHeldBytes = MAX_HELD_BYTES_OF_CALLER) {
    this.#rest = rest;
    this.#maxHeldBytes = maxHeldBytes;
  }

  attach(http: Server, gate: Gate, maxMessageBytes: number): void {
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: maxMessageBytes,
      // A compressed message can be a thousand times larger than it looks.
      perMessageDeflate: false,
      // Pings count too: a peer that sends them without reading must not fill our memory with pongs.
      autoPong: false,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    http.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      void this.#upgrade(request, socket, head, gate).catch((error: unknown) => {
        if (isHostError(error)) refuse(socket, ERRORS[error.code].http, { error: hostErrorOf(error, newRequestId()) });
        else socket.destroy();
      });
    });
    this.#heartbeat = setInterval(() => this.#beat(), this.#rest.options.pingEveryMs).unref();
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const connection of this.#connections) connection.end(CLOSE.goingAway, 'shutting down');
    setTimeout(() => {
      for (const connection of this.#connections) connection.cut();
    }, GOODBYE_MS).unref();
    this.#server?.close();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, gate: Gate): Promise<void> {
    const { host, origin, authorization } = request.headers;
    const misplaced = gate.placeProblem({ host, origin });
    if (misplaced !== undefined) return turnAway(socket, misplaced);
    if (request.url?.split('?')[0] !== SOCKET_PATH) return turnAway(socket, NOTHING_HERE);
    const token = bearerOf(authorization) ?? offeredToken(request.headers['sec-websocket-protocol']);
    const admitted = await gate.whoIs(token, 'execute');
    if ('refused' in admitted) return turnAway(socket, admitted.refused);
    if (this.#connections.size >= MAX_CONNECTIONS) return turnAway(socket, NO_ROOM);
    const { subject } = admitted.principal;
    const { quotas } = this.#rest.options.host;
    if ([...this.#connections].filter((each) => each.subject === subject).length >= quotas.limits.sessions) {
      quotas.countRefusal('sessions');
      return turnAway(socket, TOO_MANY);
    }
    this.#server?.handleUpgrade(request, socket, head, (peer) => {
      const whoIs = () => gate.whoIs(token, 'execute');
      const holdsTooMuch = (own: number) => this.#holdsTooMuch(subject, own);
      const trace = traceOfHeaders(request.headers);
      const connection = new Connection(peer, { whoIs, rest: this.#rest, trace, subject, holdsTooMuch });
      socket.on('data', (bytes: Buffer) => connection.gets(bytes.length));
      this.#connections.add(connection);
      peer.on('close', () => this.#connections.delete(connection));
    });
  }

  /** Whether all connections of a caller hold too much. `own`: what the current one holds. */
  #holdsTooMuch(subject: string, own: number): boolean {
    if (own < Math.min(LITTLE_BYTES, this.#maxHeldBytes / 8)) return false;
    let held = 0;
    for (const connection of this.#connections) if (connection.subject === subject) held += connection.heldBytes;
    return held > this.#maxHeldBytes;
  }

  #beat(): void {
    for (const connection of this.#connections) connection.beat();
  }
}

interface ConnectionOptions {
  readonly whoIs: () => ReturnType<Gate['whoIs']>;
  readonly rest: RestContext;
  readonly trace: TraceContext | undefined;
  readonly subject: string;
  readonly holdsTooMuch: (own: number) => boolean;
}

class Connection {
  /** The caller at the time the connection was opened. */
  readonly subject: string;
  readonly #peer: WebSocket;
  readonly #whoIs: () => ReturnType<Gate['whoIs']>;
  readonly #rest: RestContext;
  /** The trace context of the upgrade request. Every run on the connection belongs to it. */
  readonly #trace: TraceContext | undefined;
  readonly #gone = new AbortController();
  readonly #running = new Set<string>();
  readonly #holdsTooMuch: (own: number) => boolean;
  /** Bytes received since the last complete message. */
  #unfinishedBytes = 0;
  #isAlive = true;
  #second = 0;
  #messagesInSecond = 0;

  constructor(peer: WebSocket, { whoIs, rest, trace, subject, holdsTooMuch }: ConnectionOptions) {
    this.#holdsTooMuch = holdsTooMuch;
    this.subject = subject;
    this.#peer = peer;
    this.#whoIs = whoIs;
    this.#rest = rest;
    this.#trace = trace;
    peer.on('message', (data, isBinary) => {
      this.#unfinishedBytes = 0;
      this.#receive(data as Buffer, isBinary);
    });
    peer.on('pong', () => {
      this.#isAlive = true;
    });
    peer.on('ping', (data: Buffer) => {
      if (this.#isFlooding()) this.end(CLOSE.policy, 'too many messages in a second');
      else if (peer.bufferedAmount < MAX_UNREAD_BYTES) peer.pong(data);
    });
    peer.on('close', () => this.#gone.abort());
    // A message that is too large or is not text: the library closes the connection with the right code.
    peer.on('error', () => {});
  }

  /** Memory that the host holds for it: incomplete input and unread output. */
  get heldBytes(): number {
    return this.#unfinishedBytes + this.#peer.bufferedAmount;
  }

  gets(bytes: number): void {
    this.#unfinishedBytes += bytes;
    if (this.#holdsTooMuch(this.#unfinishedBytes)) this.cut();
  }

  /** A peer that has not answered by the next ping is gone, whatever its network says. */
  beat(): void {
    if (!this.#isAlive) return this.#peer.terminate();
    this.#isAlive = false;
    this.#peer.ping();
    // If the token cannot be checked now, it is checked at the next message, before anything runs.
    this.#admitted().catch(() => {});
  }

  /** The caller, by the current state of its token. A token that is no longer accepted closes the connection. */
  async #admitted(id?: string): Promise<Principal | undefined> {
    const admitted = await this.#whoIs();
    if ('principal' in admitted) return admitted.principal;
    const { code, message } = admitted.refused;
    if (id !== undefined) this.#complain(id, message, code);
    this.end(CLOSE.policy, message.replace(/[^ -~]/g, '?').slice(0, MAX_REASON_CHARACTERS));
    return undefined;
  }

  /** Closes without a close handshake. */
  cut(): void {
    this.#peer.terminate();
  }

  end(code: number, reason: string): void {
    this.#peer.close(code, reason);
    this.#gone.abort();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#isFlooding()) return this.end(CLOSE.policy, 'too many messages in a second');
    if (isBinary) return this.#complain('', 'a message is text: JSON of {id, type, payload, timestamp}');
    const text = data.toString('utf8');
    const message = isTooDeep(text) ? { problem: 'the message is nested too deeply', id: '' } : readMessage(text);
    if ('problem' in message) return this.#complain(message.id, message.problem);
    const { id, input } = message;
    if (this.#running.has(id))
      // Not under that id: the client would take it for the result of the run in progress.
      return this.#complain('', `${JSON.stringify(id)} is running already; give each its own id`, undefined, { id });
    if (this.#running.size >= MAX_RUNS_PER_CONNECTION)
      return this.#complain(id, `${MAX_RUNS_PER_CONNECTION} are running already on this connection; wait for one`);
    this.#running.add(id);
    void this.#run(id, input).finally(() => this.#running.delete(id));
  }

  async #run(id: string, input: unknown): Promise<void> {
    try {
      const principal = await this.#admitted(id);
      if (principal !== undefined) await this.#execute(id, input, principal);
    } catch (error) {
      if (isHostError(error)) return this.#send(id, 'error', hostErrorOf(error, newRequestId()));
      this.#complain(id, 'something went wrong inside codemode', 'internal');
    }
  }

  async #execute(id: string, input: unknown, principal: Principal): Promise<void> {
    const span = this.#rest.options.host.tracer?.start(`execute ${SOCKET_PATH}`, {
      parent: this.#trace,
      kind: 'server',
      attributes: { 'url.path': SOCKET_PATH, 'network.protocol.name': 'websocket' },
    });
    const trace = span?.context ?? this.#trace;
    try {
      const { response, refusal } = await this.#rest.execute(principal, input, {
        signal: this.#gone.signal,
        ...omitUndefined({ trace }),
        onLog: ({ level, message }) => this.#send(id, 'log', { level: LEVELS[level], message: visibleText(message) }),
      });
      if (refusal !== undefined) span?.fail(refusal.code);
      if (refusal === undefined) this.#send(id, 'result', response);
      else this.#send(id, 'error', response.error);
    } catch (error) {
      span?.fail(isHostError(error) ? error.code : 'internal');
      if (!isHostError(error))
        this.#rest.options.log(`a run failed inside codemode: ${String(error)}`, 'error', { traceId: trace?.traceId });
      throw error;
    } finally {
      span?.end();
    }
  }

  #complain(id: string, message: string, code = 'validation_error', details?: JsonObject): void {
    const { error } = refusalBody(code, message) as { error: object };
    this.#send(id, 'error', details === undefined ? error : { ...error, details });
  }

  #send(id: string, type: WebSocketMessage['type'], payload: unknown): void {
    if (this.#peer.readyState !== this.#peer.OPEN) return;
    const unread = this.#peer.bufferedAmount;
    if (unread > MAX_UNREAD_BYTES || this.#holdsTooMuch(unread)) {
      this.#gone.abort();
      return this.#peer.terminate();
    }
    this.#peer.send(JSON.stringify({ id, type, payload, timestamp: Date.now() } satisfies WebSocketMessage));
  }

  #isFlooding(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) this.#messagesInSecond = 0;
    this.#second = second;
    return ++this.#messagesInSecond > MAX_MESSAGES_PER_SECOND;
  }
}

const LEVELS = { debug: 'info', log: 'info', warn: 'warn', error: 'error' } as const;
const NOTHING_HERE = { status: 404, message: 'there is no WebSocket here', code: 'not_found' } as const;
const TOO_MANY = {
  status: 429,
  message: 'you have as many connections as quotas.sessions allows one caller; close one first',
  code: 'quota_exceeded',
} as const;
const NO_ROOM = { status: 503, message: 'there are too many connections; try again later', code: 'busy' } as const;

/** Reads `bearer.<token>` from the subprotocols that a browser offers. */
function offeredToken(header: string | undefined): string | undefined {
  const offered = header?.split(',').map((each) => each.trim());
  return offered?.find((each) => each.startsWith(TOKEN_PREFIX))?.slice(TOKEN_PREFIX.length);
}

function turnAway(socket: Duplex, { status, code, message }: Refused | Answer): void {
  refuse(socket, status, refusalBody(code, message));
}

type Answer = typeof NOTHING_HERE | typeof NO_ROOM | typeof TOO_MANY;

function refuse(socket: Duplex, status: number, answer: object): void {
  const body = JSON.stringify(answer);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
