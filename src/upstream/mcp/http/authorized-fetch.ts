import type { AuthProvider, FetchLike } from '@modelcontextprotocol/client';
import type { UpstreamAuthorizer } from '../../../domain/authorization.js';
import { NotSentError } from '../failures.js';
import { challengeOf } from '../oauth/discovery.js';

const SCHEME = 'Bearer ';

/**
 * Our authorizer as the client library's token provider. The library's own OAuth flow is not used: it would send the user's headers
 * for the server to any authorization server that is named, without our guard.
 *
 * A token is sent to the server's own origin and nowhere else. The library repeats a request after a 401, once. A 403 that asks for
 * more scopes is repeated here, once, if the authorizer gets more scopes without a person.
 */
export function authorizedFetch(
  fetch: FetchLike,
  serverUrl: string,
  authorizer: UpstreamAuthorizer,
): { readonly fetch: FetchLike; readonly provider: AuthProvider } {
  const { origin } = new URL(serverUrl);
  /** The token that each response was for: when it is handled, another call may already have renewed the token. */
  const refused = new WeakMap<Response, string>();
  const authorized: FetchLike = async (url, init) => {
    const token = tokenIn(init);
    if (token !== undefined && new URL(url).origin !== origin)
      throw new NotSentError(`the token for ${origin} is not sent to ${new URL(url).origin}`);
    const answer = await fetch(url, init);
    if (token !== undefined) refused.set(answer, token);
    if (answer.status !== 403) return answer;
    const { error, ...challenge } = challengeOf(answer);
    const wider = error === 'insufficient_scope' ? await authorizer.widen(token, challenge) : undefined;
    if (wider === undefined) return answer;
    await answer.body?.cancel();
    const headers = new Headers(init?.headers);
    headers.set('authorization', `${SCHEME}${wider}`);
    return fetch(url, { ...init, headers });
  };
  const provider: AuthProvider = {
    token: () => authorizer.token(),
    onUnauthorized: ({ response }) => {
      const { error: _, ...challenge } = challengeOf(response);
      return authorizer.renew(refused.get(response), challenge);
    },
  };
  return { fetch: authorized, provider };
}

function tokenIn(init: RequestInit | undefined): string | undefined {
  const header = new Headers(init?.headers).get('authorization');
  return header?.startsWith(SCHEME) === true ? header.slice(SCHEME.length) : undefined;
}
