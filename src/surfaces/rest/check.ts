import type { FastifyInstance } from 'fastify';
import { HostError } from '../../domain/errors.js';
import { isJsonObject } from '../../domain/json.js';
import { MAX_SOURCE_BYTES } from '../../domain/limits.js';
import type { Principal } from '../../domain/principal.js';
import type { RestContext } from './rest-context.js';

/** `POST /check`: type-checks a program of contract `codemode` without running it. */
export function mountCheck(scope: FastifyInstance, rest: RestContext): void {
  scope.post('/check', async (request) => {
    const { body } = request;
    const code = isJsonObject(body) ? body.code : undefined;
    if (typeof code !== 'string') throw new HostError('bad_input', 'code: must be the source of a program');
    if (Buffer.byteLength(code) > MAX_SOURCE_BYTES)
      throw new HostError('bad_input', `code: must have at most ${MAX_SOURCE_BYTES} bytes`);
    const verdict = await rest.checkingSessionOf(request.principal as Principal).check(code);
    if (!verdict.isChecked) {
      const { reason, fix } = verdict;
      return { isChecked: false, reason: fix === undefined ? reason : `${reason}. ${fix}` };
    }
    const problems = verdict.problems.map(({ position: { line, column }, ...problem }) => ({
      ...problem,
      line,
      column,
    }));
    return { isChecked: true, problems };
  });
}
