import type { FastifyInstance, FastifyReply } from 'fastify';
import { isHostError } from '../../domain/errors.js';
import type { Principal } from '../../domain/principal.js';
import type { Span } from '../../domain/trace.js';
import { traceOfHeaders } from '../http/request-trace.js';
import { PREFIX, type RestDoor } from './door.js';
import { statusOf } from './errors.js';

const ROUTE = `${PREFIX}/execute`;
const ATTRIBUTES = { 'http.request.method': 'POST', 'http.route': ROUTE, 'url.path': ROUTE };

/**
 * `POST /execute`. Code that has run is answered with 200, whatever became of it: its logs and metrics are the answer.
 * 202: it waits for a person. Other statuses mean that nothing has run.
 */
export function mountExecute(scope: FastifyInstance, door: RestDoor): void {
  scope.post('/execute', async (request, reply) => {
    const { signal } = hangUpOf(reply);
    const parent = traceOfHeaders(request.headers);
    const span = door.options.host.tracer?.start(`POST ${ROUTE}`, { parent, kind: 'server', attributes: ATTRIBUTES });
    const trace = span?.context ?? parent;
    try {
      const { response, answer, refusal } = await door.execute(request.principal as Principal, request.body, {
        signal,
        ...(trace === undefined ? {} : { trace }),
      });
      if (refusal !== undefined) void statusOf(reply, refusal);
      else if (answer?.state === 'asleep')
        void reply.code(202).header('location', `${PREFIX}/runs/${answer.summary.runId}`);
      noteStatus(span, reply.statusCode);
      return reply.send(response);
    } catch (error) {
      span?.fail(isHostError(error) ? error.code : 'internal');
      throw error;
    } finally {
      span?.end();
    }
  });
}

/** By the conventions of HTTP, what a client did wrong is no failure of ours. */
function noteStatus(span: Span | undefined, status: number): void {
  span?.set({ 'http.response.status_code': status });
  if (status >= 500) span?.fail(String(status));
}

/** Aborted when the client has gone before it was answered. */
export function hangUpOf(reply: FastifyReply): AbortController {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone;
}
