import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isHostError } from '../../domain/errors.js';
import type { Principal } from '../../domain/principal.js';
import type { TraceContext, Tracer } from '../../domain/trace.js';
import { Cancellation } from '../../lib/async/cancellation.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { traceOfHeaders } from '../http/request-trace.js';
import { PREFIX, type RestRunRequest } from './rest-context.js';

type Answer = (request: RestRunRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** A route that runs something. The run is cancelled if its client disconnects. The request gets a server span if tracing is on. */
export function mountRun(scope: FastifyInstance, path: string, tracer: Tracer | undefined, answer: Answer): void {
  const route = `${PREFIX}${path}`;
  const attributes = { 'http.request.method': 'POST', 'http.route': route, 'url.path': route };
  scope.post(path, async (request, reply) => {
    const parent = traceOfHeaders(request.headers);
    const span = tracer?.start(`POST ${route}`, { parent, kind: 'server', attributes });
    try {
      const answered = await answer(runRequestOf(request, reply, span?.context ?? parent), reply);
      span?.set({ 'http.response.status_code': reply.statusCode });
      // By the HTTP conventions, a client error does not fail the server span.
      if (reply.statusCode >= 500) span?.fail(String(reply.statusCode));
      return answered;
    } catch (error) {
      span?.fail(isHostError(error) ? error.code : 'internal');
      throw error;
    } finally {
      span?.end();
    }
  });
}

function runRequestOf(request: FastifyRequest, reply: FastifyReply, trace: TraceContext | undefined): RestRunRequest {
  const gone = new Cancellation();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.cancel();
  });
  const { principal, body } = request;
  return {
    principal: principal as Principal,
    body,
    signal: gone,
    ...omitUndefined({ trace }),
  };
}
