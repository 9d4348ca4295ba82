import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { HostError } from '../../domain/errors.js';
import { isDeeperThan } from '../../lib/text/json-depth.js';
import { excessOf } from '../../lib/text/json-excess.js';

/** No request of ours is nested this deeply. A deeper one could overflow the stack of the code that walks it. */
const MAX_NESTING = 100;

/** Parses JSON bodies, and limits their depth for the code that walks them. */
export function parseJsonBodies(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser('error', 'error');
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    // A lenient decoder would change the text: the code that runs would not be the code that was sent.
    if (!isUtf8(bytes)) return done(new HostError('bad_input', 'the body is not UTF-8'));
    const body = bytes.toString('utf8');
    if (isTooDeep(body))
      return done(new HostError('bad_input', `the body is nested more than ${MAX_NESTING} levels deep`));
    const excess = excessOf(body);
    if (excess !== undefined) return done(new HostError('bad_input', `the body has ${excess}`));
    if (body === '') return done(null, undefined);
    return void parse(request, body, done);
  });
}

export function isTooDeep(json: string): boolean {
  return isDeeperThan(json, MAX_NESTING);
}
