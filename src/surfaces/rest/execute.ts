import type { FastifyInstance } from 'fastify';
import { statusOf } from './errors.js';
import { PREFIX, type RestContext } from './rest-context.js';
import { mountRun } from './run-request.js';

/**
 * `POST /execute`. Code that has run gets 200, whether it succeeded or not: the response has its logs and metrics. 202: it waits
 * for a person. Any other status means that nothing has run.
 */
export function mountExecute(scope: FastifyInstance, rest: RestContext): void {
  mountRun(scope, '/execute', rest.options.host.tracer, async ({ principal, body, ...client }, reply) => {
    const { response, answer, refusal } = await rest.execute(principal, body, client);
    if (refusal !== undefined) void statusOf(reply, refusal);
    else if (answer?.state === 'suspended')
      void reply.code(202).header('location', `${PREFIX}/runs/${answer.summary.runId}`);
    return reply.send(response);
  });
}
