import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { ERRORS, isHostError } from '../../domain/errors.js';
import type { Log } from '../../domain/log.js';
import { AGENT_SCOPES, type Principal, type Scope } from '../../domain/principal.js';
import { type GuardRules, hostProblem, originProblem } from './guards.js';
import { bearerOf, type Identified, type Identify } from './principals.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a token. Host and origin are checked all the same. */
    isPublic?: boolean;
    /** What a token must be good for; `execute` where nothing is said. */
    scope?: Scope;
  }
  interface FastifyRequest {
    /** Whose request it is. Absent on public routes only. */
    principal?: Principal;
  }
}

export interface ListenerOptions {
  readonly rules: GuardRules;
  /** Absent where everybody who reaches the port is let in. */
  readonly identify?: Identify;
  readonly maxRequestBytes: number;
  readonly log: Log;
}

/** A client that takes longer to send a request does not want an answer. */
const RECEIVE_TIMEOUT_MS = 60_000;
const MAX_CONNECTIONS = 1_000;
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name',
  'access-control-max-age': '600',
};

/**
 * The HTTP server that all network surfaces are mounted on. Every request, of whichever route and also of none, passes the
 * guards first: host, origin, token.
 */
export function createListener({ rules, identify, maxRequestBytes, log }: ListenerOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: maxRequestBytes,
    requestTimeout: RECEIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    // Nothing here believes what a proxy says about the client.
    trustProxy: false,
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin, authorization } = request.headers;
    const problem = hostProblem(host, rules) ?? originProblem(origin, host, rules);
    if (problem !== undefined) return refuse(reply, 403, 'forbidden', problem);
    if (origin !== undefined && rules.origins.includes(origin)) {
      allowOrigin(reply, origin);
      if (isPreflight(request)) return reply.headers(PREFLIGHT).code(204).send();
    }
    const { isPublic, scope = 'execute' } = request.routeOptions.config;
    if (isPublic === true) return undefined;
    const identified = await whoIs(bearerOf(authorization), identify);
    if ('problem' in identified) return challenge(reply, 401, 'unauthorized', identified.problem, 'invalid_token');
    const { principal } = identified;
    request.principal = principal;
    if (principal.scopes.has(scope)) return undefined;
    return challenge(
      reply,
      403,
      'forbidden',
      `this token is not good for this: it lacks the scope ${scope}`,
      'insufficient_scope',
    );
  });
  app.setNotFoundHandler((request, reply) =>
    refuse(reply, 404, 'not_found', `there is nothing at ${request.method} ${request.url.slice(0, 200)}`),
  );
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    if (isHostError(error)) return refuse(reply, ERRORS[error.code].http, error.code, error.message);
    // What the framework itself refuses: a body that is too large, a header that is malformed.
    const { statusCode = 500 } = error;
    if (statusCode < 500) return refuse(reply, statusCode, 'bad_input', error.message);
    log(`a request failed inside codemode: ${error.stack ?? error.message}`, 'error');
    return refuse(reply, 500, 'internal', 'something went wrong inside codemode');
  });
  return app;
}

/** Everybody who reaches the port, where the configuration lets them in. */
const ANYBODY: Principal = { subject: 'anybody', scopes: AGENT_SCOPES };

async function whoIs(token: string | undefined, identify: Identify | undefined): Promise<NonNullable<Identified>> {
  if (identify === undefined) return { principal: ANYBODY };
  const identified = token === undefined ? undefined : await identify(token);
  return identified ?? { problem: 'the access token is missing or wrong; `codemode token` prints it' };
}

function challenge(reply: FastifyReply, status: number, code: string, message: string, error: string): FastifyReply {
  void reply.header('www-authenticate', `Bearer realm="codemode", error="${error}"`);
  return refuse(reply, status, code, message);
}

export function refuse(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  return reply.code(status).send({ error: { code, message } });
}

function allowOrigin(reply: FastifyReply, origin: string): void {
  // On the raw answer too: what is mounted here may write it without the framework.
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
