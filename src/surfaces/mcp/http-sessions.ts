import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { callerOf, hasPerson, type Principal } from '../../domain/principal.js';
import { ClientListing } from './client-listing.js';
import type { CommonListing } from './common-listing.js';
import { type ClientConnection, type McpOptions, openSession } from './mcp-session.js';
import { authInfoOf } from './principal-info.js';
import type { QuestionRequests } from './question-requests.js';
import { createServer } from './server.js';

/** Concurrent clients of the older era, of all callers. The quota limits each caller. */
const MAX_SESSIONS = 4_000;
/** Idle sessions are removed after this time; their clients are told to initialize again. */
const IDLE_MS = 60 * 60_000;
const SWEEP_EVERY_MS = 60_000;

interface ClientSession {
  /** The token that opened it. */
  readonly owner: string;
  readonly subject: string;
  readonly connection: ClientConnection;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly gone: AbortController;
  /** Unanswered requests, event streams included. */
  openRequests: number;
  lastUsedAt: number;
}

/** One HTTP exchange, until its response is complete or its connection is lost. */
export interface Exchange {
  /** Owner of the request's token. */
  readonly principal: Principal;
  readonly body: unknown;
  /** Calls the listener when the exchange is over. */
  onEnd(listener: () => void): void;
}

/**
 * Clients of the older era: each has a session with its own server. The caller is the token's owner in all of its sessions: rules
 * and limits are the same as on the other surfaces, and count all sessions together. State of a session is not shared.
 */
export class HttpSessions {
  readonly #options: McpOptions;
  readonly #common: CommonListing;
  readonly #questions: QuestionRequests;
  readonly #sessions = new Map<string, ClientSession>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: McpOptions, common: CommonListing, questions: QuestionRequests) {
    this.#questions = questions;
    this.#options = options;
    this.#common = common;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
  }

  async handle(request: Request, exchange: Exchange): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) {
      if (!isInitializeRequest(exchange.body)) return rpcError(400, -32_000, 'no session: send initialize first');
      const refusal = this.#makeRoomFor(exchange.principal);
      if (refusal !== undefined) return refusal;
      return this.#serve(await this.#open(exchange.principal), request, exchange);
    }
    const session = this.#sessions.get(id);
    // The id need not be secret: it is useless without the token that opened the session.
    if (session === undefined || session.owner !== ownerOf(exchange.principal))
      return rpcError(404, -32_001, 'there is no such session (any more); send initialize again');
    return this.#serve(session, request, exchange);
  }

  /** Notifies each client of its changes. */
  tell(): void {
    for (const { server, connection } of this.#sessions.values()) {
      const news = connection.listing.news();
      if (news.tools) server.sendToolListChanged().catch(() => {});
      if (news.resources) server.sendResourceListChanged().catch(() => {});
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  #serve(session: ClientSession, request: Request, exchange: Exchange): Promise<Response> {
    session.openRequests += 1;
    session.lastUsedAt = Date.now();
    exchange.onEnd(() => {
      session.openRequests -= 1;
      session.lastUsedAt = Date.now();
    });
    const { body, principal } = exchange;
    return session.transport.handleRequest(request, { parsedBody: body, authInfo: authInfoOf(principal) });
  }

  async #open(principal: Principal): Promise<ClientSession> {
    const gone = new AbortController();
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => {
        this.#sessions.set(id, session);
      },
      onsessionclosed: () => this.#end(id),
    });
    const opened = openSession(this.#options, callerOf(principal), { bounds: principal.capabilities, sessionId: id });
    const connection: ClientConnection = {
      options: this.#options,
      listing: new ClientListing(this.#common, opened, { isKept: true }),
      session: opened,
      gone: gone.signal,
      clientKey: `session ${id}`,
      ...(hasPerson(principal) ? { person: { subject: principal.subject } } : {}),
      questions: this.#questions,
    };
    const server = createServer(connection);
    const session: ClientSession = {
      owner: ownerOf(principal),
      subject: principal.subject,
      connection,
      server,
      transport,
      gone,
      openRequests: 0,
      lastUsedAt: Date.now(),
    };
    await server.connect(transport);
    return session;
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    session.gone.abort();
    session.connection.session.close();
    await session.server.close().catch(() => {});
  }

  #sweep(): void {
    for (const [id, { openRequests, lastUsedAt }] of this.#sessions) {
      if (openRequests === 0 && Date.now() - lastUsedAt > IDLE_MS) void this.#end(id);
    }
  }

  /** A caller at its quota loses one of its idle sessions. If the total is exhausted, the caller with most sessions loses one. */
  #makeRoomFor({ subject }: Principal): Response | undefined {
    const { quotas } = this.#options.host;
    const mine = this.#sessionsOf(subject);
    if (mine.length >= quotas.limits.sessions) {
      if (this.#endIdle(mine)) return undefined;
      quotas.countRefusal('sessions');
      const has = `you have ${mine.length} sessions, the most that quotas.sessions allows one caller`;
      return rpcError(429, -32_000, `${has}; close one first`);
    }
    if (this.#sessions.size < MAX_SESSIONS) return undefined;
    const counts = new Map<string, number>();
    for (const { subject: each } of this.#sessions.values()) counts.set(each, (counts.get(each) ?? 0) + 1);
    for (const [greedy] of [...counts].sort(([, left], [, right]) => right - left))
      if (this.#endIdle(this.#sessionsOf(greedy))) return undefined;
    return rpcError(503, -32_000, 'too many clients are connected; try again later');
  }

  #sessionsOf(subject: string): [string, ClientSession][] {
    return [...this.#sessions].filter(([, session]) => session.subject === subject);
  }

  /** Ends the least recently used session that has no open request. */
  #endIdle(sessions: readonly [string, ClientSession][]): boolean {
    const idle = sessions.filter(([, { openRequests }]) => openRequests === 0);
    const [oldest] = idle.sort(([, left], [, right]) => left.lastUsedAt - right.lastUsedAt);
    if (oldest !== undefined) void this.#end(oldest[0]);
    return oldest !== undefined;
  }
}

/** The owner of a session: the caller, its capabilities, and whether a person sits at the client. */
export function ownerOf(principal: Principal): string {
  return JSON.stringify([principal.subject, principal.capabilities ?? null, hasPerson(principal)]);
}

export function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
