import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonValue } from '../../domain/json.js';
import { callerOf, hasPerson, type Principal } from '../../domain/principal.js';
import { type Deferred, deferred } from '../../lib/async/deferred.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { excessOf } from '../../lib/text/json-excess.js';
import { OpenRequests } from '../http/open-requests.js';
import { exchange } from '../http/web-exchange.js';
import { ClientListing } from './client-listing.js';
import { CommonListing, onToolNews } from './common-listing.js';
import { type Exchange, HttpSessions, ownerOf, rpcError } from './http-sessions.js';
import { type ClientConnection, type McpOptions, openSession } from './mcp-session.js';
import { authInfoOf, principalOf } from './principal-info.js';
import { QuestionRequests } from './question-requests.js';
import { createServer } from './server.js';

/** Callers of the newer era whose sessions are cached. The least recently used one is evicted first. */
const MAX_CONNECTIONS = 256;
/** Notification streams of all callers together, as many as connections. `quotas.sessions` limits those of one caller. */
const MAX_STREAMS = 4_000;
/** Messages in one request. All responses are held until the last one is ready. */
const MAX_BATCH = 100;

/**
 * MCP over Streamable HTTP at `/mcp`. The newer era is stateless: each request is authenticated by itself, and the token
 * names its caller. Clients of the older era get a session, and with it notifications of changed tools.
 */
export class McpHttp {
  readonly #options: McpOptions;
  readonly #sessions: HttpSessions;
  readonly #modern: McpHttpHandler;
  readonly #questions: QuestionRequests;
  readonly #common: CommonListing;
  readonly #connections = new Map<string, ClientConnection>();
  readonly #streams: OpenRequests;
  readonly #stopNews: () => void;
  readonly #gone = new AbortController();
  #calls = 0;
  #closing: { readonly lastCallEnded: Deferred<void> } | undefined;

  /** `roundKey`: the same on all hosts behind one load balancer, which may send the rounds of a call to any of them. */
  constructor(options: McpOptions, roundKey: Uint8Array) {
    this.#options = options;
    const { sessions } = options.host.quotas.limits;
    this.#questions = new QuestionRequests(roundKey, sessions);
    this.#streams = new OpenRequests({ requests: sessions, bytes: 0 });
    this.#common = new CommonListing(options);
    this.#sessions = new HttpSessions(options, this.#common, this.#questions);
    this.#modern = createMcpHandler(
      ({ authInfo }) => createServer(this.#connectionOf(certain(principalOf(authInfo)))),
      {
        legacy: 'reject',
        maxSubscriptions: MAX_STREAMS,
      },
    );
    this.#stopNews = onToolNews(options.host, () => this.#tell());
  }

  mount(app: FastifyInstance): void {
    void app.register((scope, _options, done) => {
      // The raw body: the protocol decides which media types are valid.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, next) => next(null, body));
      const handler = (request: FastifyRequest, reply: FastifyReply) => this.#answer(request, reply);
      scope.route({ method: ['GET', 'POST', 'DELETE'], url: '/mcp', handler });
      done();
    });
  }

  /** Lets calls in flight finish within the grace period, then cancels them and their runs. */
  async close(graceMs: number): Promise<void> {
    this.#closing = { lastCallEnded: deferred() };
    this.#stopNews();
    if (this.#calls > 0) {
      const timer = setTimeout(() => this.#closing?.lastCallEnded.resolve(), graceMs);
      await this.#closing.lastCallEnded.promise;
      clearTimeout(timer);
    }
    this.#gone.abort();
    this.#questions.close();
    await Promise.all([this.#sessions.close(), this.#modern.close()]);
  }

  async #answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { raw } = reply.hijack();
    const body = parseBody(request.body);
    if (isToolCall(body)) this.#countCall(raw);
    try {
      await exchange(request.raw, raw, (webRequest) =>
        this.#respond(webRequest, body, raw, request.principal as Principal),
      );
    } catch (error) {
      this.#options.log(`a request to /mcp failed inside codemode: ${String(error)}`, 'error');
      if (raw.headersSent) raw.destroy();
      else raw.writeHead(500).end();
    }
  }

  /** Clients of the newer era cannot be told apart: every listener is notified of all changes. */
  #tell(): void {
    this.#sessions.tell();
    const news = [...this.#connections.values()].map(({ listing }) => listing.news());
    if (news.some(({ tools }) => tools)) this.#modern.notify.toolsChanged();
    if (news.some(({ resources }) => resources)) this.#modern.notify.resourcesChanged();
  }

  /** One connection per token: its state and its reach are its own. */
  #connectionOf(principal: Principal): ClientConnection {
    const key = ownerOf(principal);
    const known = this.#connections.get(key);
    this.#connections.delete(key);
    const connection = known ?? this.#open(principal);
    this.#connections.set(key, connection);
    for (const oldest of this.#connections.keys()) {
      if (this.#connections.size <= MAX_CONNECTIONS) break;
      this.#connections.delete(oldest);
    }
    return connection;
  }

  #open(principal: Principal): ClientConnection {
    const session = openSession(this.#options, callerOf(principal), { bounds: principal.capabilities });
    return {
      options: this.#options,
      // Its requests share only a token, so each gets the current tools.
      listing: new ClientListing(this.#common, session, { isKept: false }),
      session,
      gone: this.#gone.signal,
      ...(hasPerson(principal) ? { person: { subject: principal.subject } } : {}),
      questions: this.#questions,
    };
  }

  async #respond(
    request: Request,
    body: JsonValue | undefined,
    raw: FastifyReply['raw'],
    principal: Principal,
  ): Promise<Response> {
    if (this.#closing !== undefined) return rpcError(503, -32_000, 'shutting down; connect again later');
    if (request.method === 'POST') {
      if (!isJsonContentType(request.headers.get('content-type')))
        return rpcError(415, -32_000, 'the content type must be application/json');
      if (body === undefined) return rpcError(400, -32_700, 'the body is not JSON');
      if (Array.isArray(body) && body.length > MAX_BATCH)
        return rpcError(400, -32_600, `a batch has at most ${MAX_BATCH} messages; send several`);
    }
    const refusal = isListening(body) ? this.#takeStream(principal, raw) : undefined;
    if (refusal !== undefined) return refusal;
    const ofClient: Exchange = { principal, body, onEnd: (listener) => void raw.once('close', listener) };
    return (await isLegacyRequest(request, body))
      ? this.#sessions.handle(request, ofClient)
      : this.#modern.fetch(request, {
          authInfo: authInfoOf(principal),
          ...omitUndefined({ parsedBody: body }),
        });
  }

  /** A client of the newer era that listens for notifications holds a connection indefinitely, like a session. */
  #takeStream({ subject }: Principal, raw: FastifyReply['raw']): Response | undefined {
    const { quotas } = this.#options.host;
    if (this.#streams.enter(subject, 0, raw)) return undefined;
    quotas.countRefusal('sessions');
    const has = `you listen with ${quotas.limits.sessions} requests, the most that quotas.sessions allows one caller`;
    return rpcError(429, -32_000, `${has}; close one first`);
  }

  #countCall(raw: FastifyReply['raw']): void {
    this.#calls += 1;
    raw.once('close', () => {
      this.#calls -= 1;
      if (this.#calls === 0) this.#closing?.lastCallEnded.resolve();
    });
  }
}

function certain(principal: Principal | undefined): Principal {
  if (principal === undefined) throw new Error('a request without a principal');
  return principal;
}

function parseBody(text: unknown): JsonValue | undefined {
  if (typeof text !== 'string' || excessOf(text) !== undefined) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function isToolCall(body: JsonValue | undefined): boolean {
  return methodOf(body) === 'tools/call';
}

function isListening(body: JsonValue | undefined): boolean {
  return methodOf(body) === 'subscriptions/listen';
}

function methodOf(body: JsonValue | undefined): JsonValue | undefined {
  return body !== null && typeof body === 'object' && !Array.isArray(body) ? body.method : undefined;
}
