import type { AuthorizationChallenge, AuthorizationServer } from '../../domain/authorization.js';
import { HostError } from '../../domain/errors.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { type Account, unitedScope, withGuardedFetch } from './account.js';
import type { Grant } from './vault.js';

/**
 * Obtains a token for the client itself (client credentials). The authorization server is discovered once: the client secret
 * goes only to the one that issued the first token, and a server that later names another one is not trusted.
 */
export async function obtainClientGrant(
  account: Account,
  current: Grant | undefined,
  challenge: AuthorizationChallenge,
  signal: AbortSignal,
): Promise<Grant> {
  const { settings, serverId } = account;
  const { clientId, clientSecret } = settings;
  if (clientId === undefined || clientSecret === undefined)
    throw new HostError(
      'bad_config',
      `server ${JSON.stringify(serverId)}: client credentials need auth.clientId and auth.clientSecret`,
    );
  const client = { clientId, clientSecret };
  return withGuardedFetch(account, signal, async (fetch) => {
    const [{ requestClientToken }, { askForChallenge, discoverAuthorization, isSameIssuer }] = await Promise.all([
      import('../../upstream/mcp/oauth/requests.js'),
      import('../../upstream/mcp/oauth/discovery.js'),
    ]);
    const isKnown = current?.grant === 'client_credentials' && current.client.clientId === clientId;
    let found: { readonly server: AuthorizationServer; readonly resource: string; readonly scope?: string };
    if (isKnown && isAllowed(current.server.issuer, settings.issuer, isSameIssuer)) found = current;
    else {
      const said =
        challenge.resourceMetadataUrl === undefined
          ? await askForChallenge(account.url, account.headers, fetch)
          : challenge;
      const plan = await discoverAuthorization({
        serverUrl: account.url,
        challenge: said,
        fetch,
        ...omitUndefined({ issuer: settings.issuer }),
      });
      const scope = said.scope ?? unitedScope(...plan.scopes);
      found = { ...plan, ...omitUndefined({ scope }) };
    }
    const { server, resource } = found;
    const scope = unitedScope(settings.scopes?.join(' ') ?? found.scope, challenge.scope, current?.tokens?.scope);
    const tokens = await requestClientToken({ server, client, resource }, scope, fetch);
    // Requested again when it expires: there is nothing to refresh.
    const { refreshToken: _, ...kept } = tokens;
    return {
      grant: 'client_credentials',
      server: { ...server, clientAuthentication: [...server.clientAuthentication] },
      client,
      resource,
      tokens: kept,
    };
  });
}

function isAllowed(issuer: string, only: string | undefined, isSame: (one: string, other: string) => boolean): boolean {
  return only === undefined || isSame(issuer, only);
}
