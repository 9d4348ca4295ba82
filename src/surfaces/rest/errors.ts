import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { ERRORS, HostError, isHostError } from '../../domain/errors.js';
import type { Log } from '../../domain/log.js';
import { errorWith, hostErrorOf } from '../../profiles/unified/render.js';

/** Seconds after which a client may retry if there was no capacity. */
const RETRY_AFTER_SECONDS = 1;

/** An error body in the format of the contract. A response with one contains nothing else. */
export function refusalBody(code: string, message: string): object {
  const requestId = randomUUID();
  const isSecurity = code === 'unauthorized' || code === 'forbidden';
  return {
    error: errorWith(isSecurity ? 'security' : 'validation', code.toUpperCase(), message, requestId),
    requestId,
  };
}

export function statusOf(reply: FastifyReply, error: HostError): FastifyReply {
  if (ERRORS[error.code].http === 503) void reply.header('retry-after', String(RETRY_AFTER_SECONDS));
  return reply.code(ERRORS[error.code].http);
}

export function answerErrors(scope: FastifyInstance, log: Log): void {
  scope.setErrorHandler<FastifyError>((error, _request, reply) => {
    const requestId = randomUUID();
    if (isHostError(error)) return statusOf(reply, error).send({ error: hostErrorOf(error, requestId), requestId });
    const { statusCode = 500 } = error;
    if (statusCode < 500)
      return reply
        .code(statusCode)
        .send({ error: errorWith('validation', 'VALIDATION_ERROR', messageOf(error), requestId), requestId });
    log(`a request failed inside codemode: ${error.stack ?? error.message}`, 'error');
    const fault = new HostError('internal', 'something went wrong inside codemode');
    return reply.code(500).send({ error: hostErrorOf(fault, requestId), requestId });
  });
}

/** The framework's error message, with advice. */
function messageOf({ code, message }: FastifyError): string {
  return ADVICE[code] === undefined ? message : `${message}: ${ADVICE[code]}`;
}

const ADVICE: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'send less, or raise server.maxRequestSize in the configuration',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'send JSON with the header Content-Type: application/json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'send a JSON object such as {"code": "return 1"}',
};
