import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Principal } from '../../domain/principal.js';
import type { RestDoor } from './door.js';
import { statusOf } from './errors.js';

/**
 * `POST /execute`. Code that has run is answered with 200, whatever became of it: its logs and metrics are the answer.
 * 202: it waits for a person. Other statuses mean that nothing has run.
 */
export function mountExecute(scope: FastifyInstance, door: RestDoor): void {
  scope.post('/execute', async (request, reply) => {
    const { signal } = hangUpOf(reply);
    const { response, answer, refusal } = await door.execute(request.principal as Principal, request.body, { signal });
    if (refusal !== undefined) return statusOf(reply, refusal).send(response);
    return reply.code(answer?.state === 'asleep' ? 202 : 200).send(response);
  });
}

/** Aborted when the client has gone before it was answered. */
export function hangUpOf(reply: FastifyReply): AbortController {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone;
}
