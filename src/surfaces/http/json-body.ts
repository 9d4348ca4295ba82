import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { HostError } from '../../domain/errors.js';
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

/** Counts opening and closing brackets outside of strings. */
export function isTooDeep(json: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (isInString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_NESTING) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return false;
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
