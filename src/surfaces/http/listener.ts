import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { ERRORS, isHostError } from '../../domain/errors.js';
import type { Log } from '../../domain/log.js';
import type { Principal, Scope } from '../../domain/principal.js';
import type { Gate, Refused } from './gate.js';
import { type OpenRequestLimits, OpenRequests } from './open-requests.js';
import { bearerOf } from './principals.js';
import { metadataAddress, type ProtectedResource } from './protected-resource.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no token. Host and origin are still checked. */
    isPublic?: boolean;
    /** The scope that a token needs; `execute` by default. */
    scope?: Scope;
    /** Builds error bodies in the format of this route's contract. */
    errorBody?: (code: string, message: string) => object;
  }
  interface FastifyRequest {
    /** Whose request it is. Absent on public routes only. */
    principal?: Principal;
  }
}

export interface ListenerOptions {
  readonly gate: Gate;
  readonly maxRequestBytes: number;
  /** Absent if no issuer gives out tokens for this host. */
  readonly resource?: ProtectedResource | undefined;
  readonly log: Log;
  /** How much one caller may have open. */
  readonly ofCaller?: OpenRequestLimits;
}

/** A client that takes longer to send a request does not want a response. Headers arrive in one piece. */
const RECEIVE_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 5_000;
const TIMEOUTS_CHECKED_EVERY_MS = 1_000;
/** Each WebSocket uses one, and so does each run that an HTTP client waits for. Their bodies are bounded, and read after the gate. */
const MAX_CONNECTIONS = 4_000;
/** Requests that one caller may have open at once: other callers need connections too. */
const MAX_REQUESTS_OF_CALLER = MAX_CONNECTIONS / 2;
/** Total size of their bodies. A body is in memory from its first byte until its request is answered. */
const MAX_BODY_BYTES_OF_CALLER = 512 * 1024 * 1024;
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name',
  'access-control-max-age': '600',
};

/** Requests are read with zod. The framework's own compilers generate code from schemas, and are not in the bundle. */
const refuseSchemas = (): never => {
  throw new Error('a route has a schema: read its request with zod instead');
};

/**
 * The HTTP server that all network surfaces are mounted on. Every request passes the guards first (host, origin, token), even if
 * it matches no route.
 */
export function createListener(options: ListenerOptions): FastifyInstance {
  const { gate, maxRequestBytes, resource, log, ofCaller = MOST_OF_CALLER } = options;
  const app = fastify({
    logger: false,
    bodyLimit: maxRequestBytes,
    requestTimeout: RECEIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUTS_CHECKED_EVERY_MS },
    forceCloseConnections: 'idle',
    // What a proxy says about the client is never trusted.
    trustProxy: false,
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  // An idle keep-alive connection needs no token, so it is closed to make room for a new client.
  app.server.on('drop', () => app.server.closeIdleConnections());
  const open = new OpenRequests(ofCaller);
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin, authorization } = request.headers;
    const misplaced = gate.placeProblem({ host, origin });
    if (misplaced !== undefined) return turnAway(reply, misplaced);
    if (origin !== undefined && gate.rules.origins.includes(origin)) {
      allowOrigin(reply, origin);
      if (isPreflight(request)) return reply.headers(PREFLIGHT).code(204).send();
    }
    const { isPublic, scope = 'execute' } = request.routeOptions.config;
    if (isPublic === true) return undefined;
    const admitted = await gate.whoIs(bearerOf(authorization), scope);
    if ('refused' in admitted) return turnAway(reply, admitted.refused, resource && metadataAddress(resource, host));
    request.principal = admitted.principal;
    if (open.enter(admitted.principal.subject, bodyBytes(request, maxRequestBytes), reply.raw)) return undefined;
    // The body of a refused request is not read.
    void reply.header('connection', 'close');
    const has = 'your open requests are as many, or their bodies as large, as one caller may have';
    return refuse(reply, ERRORS.quota_exceeded.http, 'quota_exceeded', `${has}; wait for their answers`);
  });
  app.setNotFoundHandler((request, reply) =>
    refuse(reply, 404, 'not_found', `there is nothing at ${request.method} ${request.url.slice(0, 200)}`),
  );
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    if (isHostError(error)) return refuse(reply, ERRORS[error.code].http, error.code, error.message);
    // Errors of the framework itself: a body that is too large, a malformed header.
    const { statusCode = 500 } = error;
    if (statusCode < 500) return refuse(reply, statusCode, 'bad_input', error.message);
    log(`a request failed inside codemode: ${error.stack ?? error.message}`, 'error');
    return refuse(reply, 500, 'internal', 'something went wrong inside codemode');
  });
  return app;
}

const MOST_OF_CALLER: OpenRequestLimits = { requests: MAX_REQUESTS_OF_CALLER, bytes: MAX_BODY_BYTES_OF_CALLER };

/** A body without a declared length counts as the maximum. */
function bodyBytes({ headers }: FastifyRequest, most: number): number {
  if (headers['transfer-encoding'] !== undefined) return most;
  return Math.min(Number(headers['content-length'] ?? 0) || 0, most);
}

function turnAway(
  reply: FastifyReply,
  { status, code, message, challenge }: Refused,
  metadata?: string | undefined,
): FastifyReply {
  const where = metadata === undefined ? '' : `, resource_metadata="${metadata}"`;
  if (challenge !== undefined) {
    const { error, scope } = challenge;
    const why = error === undefined ? '' : `, error="${error}"`;
    void reply.header('www-authenticate', `Bearer realm="codemode"${why}, scope="${scope}"${where}`);
  }
  return refuse(reply, status, code, message);
}

export function refuse(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  const { errorBody } = reply.request.routeOptions.config;
  return reply.code(status).send(errorBody?.(code, message) ?? { error: { code, message } });
}

function allowOrigin(reply: FastifyReply, origin: string): void {
  // On the raw response too: a mounted surface may write it without the framework.
  const headers = {
    'access-control-allow-origin': origin,
    vary: 'Origin',
    'access-control-expose-headers': 'mcp-session-id, www-authenticate',
  };
  void reply.headers(headers);
  for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}
