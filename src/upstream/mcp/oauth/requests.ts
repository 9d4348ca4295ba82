import {
  type AuthorizationServerMetadata,
  exchangeAuthorization,
  type FetchLike,
  fetchToken,
  type OAuthClientInformationMixed,
  type OAuthTokens,
  refreshAuthorization,
  registerClient as register,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import type { AuthorizationServer, OAuthClient, TokenSet } from '../../../domain/authorization.js';
import { HostError } from '../../../domain/errors.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { type AuthorizationPlan, isScopeList } from './discovery.js';
import { foreign, isGrantRefused, problemOf } from './failures.js';
import { checkScheme, type Fetch } from './guarded-fetch.js';

/** Requests to an authorization server. Every function throws `upstream_unavailable` with its reason. */

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly scope?: string;
  readonly state: string;
}

/** Dynamic registration (RFC 7591): a public client on a person's own machine, or one with a secret for headless use. */
export async function registerClient(
  plan: AuthorizationPlan,
  { redirectUri, scope }: { readonly redirectUri: string; readonly scope?: string },
  fetch: Fetch,
): Promise<OAuthClient> {
  try {
    const client = await register(plan.server.issuer, {
      metadata: plan.metadata,
      clientMetadata: {
        client_name: 'codemode',
        redirect_uris: [redirectUri],
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      ...omitUndefined({ scope }),
      fetchFn: fetch as FetchLike,
    });
    const { client_id: clientId, client_secret: clientSecret, token_endpoint_auth_method: authentication } = client;
    return {
      clientId,
      ...omitUndefined({ clientSecret, authentication }),
    };
  } catch (error) {
    throw problemOf(error, `${plan.server.issuer} did not register codemode as a client`);
  }
}

/** The address for the person's browser, and the code verifier, which stays here. */
export async function authorizationAddress(
  plan: AuthorizationPlan,
  client: OAuthClient,
  { redirectUri, scope, state }: AuthorizationRequest,
): Promise<{ readonly url: URL; readonly codeVerifier: string }> {
  try {
    const { authorizationUrl: url, codeVerifier } = await startAuthorization(plan.server.issuer, {
      metadata: plan.metadata,
      clientInformation: informationOf(client),
      redirectUrl: redirectUri,
      state,
      resource: plan.resource,
      ...omitUndefined({ scope }),
    });
    checkScheme(url);
    return { url, codeVerifier };
  } catch (error) {
    throw problemOf(error, `${plan.server.issuer} cannot be asked for authorization`);
  }
}

/** Checks what the browser brought back: first the issuer that this flow was started with (RFC 9207), then errors. */
export function readAuthorizationAnswer(plan: AuthorizationPlan, answer: URLSearchParams): { readonly code: string } {
  const { issuer } = plan.server;
  const { authorization_response_iss_parameter_supported: isPromised } = plan.metadata;
  try {
    const iss = answer.get('iss') ?? undefined;
    validateAuthorizationResponseIssuer({ iss, expectedIssuer: issuer, issParameterSupported: isPromised === true });
  } catch {
    // Nothing of such an answer is shown: it comes from another party.
    throw new HostError(
      'upstream_unavailable',
      `the answer does not come from ${issuer}, where the login began; nothing was sent`,
    );
  }
  const [error, code] = [answer.get('error'), answer.get('code')];
  if (error !== null) {
    const reason = answer.get('error_description');
    throw new HostError(
      'upstream_unavailable',
      `${issuer} gave no authorization: ${foreign(reason === null ? error : `${error}: ${reason}`)}`,
    );
  }
  if (code === null || code === '')
    throw new HostError('upstream_unavailable', `${issuer} sent an answer without a code`);
  return { code };
}

export async function exchangeCode(
  plan: AuthorizationPlan,
  client: OAuthClient,
  request: {
    readonly code: string;
    readonly codeVerifier: string;
    readonly redirectUri: string;
    readonly scope?: string;
  },
  fetch: Fetch,
): Promise<TokenSet> {
  const { code, codeVerifier, redirectUri, scope } = request;
  try {
    const tokens = await exchangeAuthorization(plan.server.issuer, {
      // The issuer was checked when the answer was read.
      metadata: { ...plan.metadata, authorization_response_iss_parameter_supported: false },
      clientInformation: informationOf(client),
      authorizationCode: code,
      codeVerifier,
      redirectUri,
      resource: plan.resource,
      fetchFn: fetch as FetchLike,
    });
    return tokenSet(tokens, scope);
  } catch (error) {
    throw problemOf(error, `${plan.server.issuer} gave no token`);
  }
}

/** The next token of a grant, or `refused` if the authorization server will never issue one again. */
export async function refreshTokens(
  grant: { readonly server: AuthorizationServer; readonly client: OAuthClient; readonly resource: string },
  tokens: TokenSet & { readonly refreshToken: string },
  fetch: Fetch,
): Promise<TokenSet | 'refused'> {
  const { server, client, resource } = grant;
  try {
    const next = await refreshAuthorization(server.issuer, {
      metadata: metadataOf(server),
      clientInformation: informationOf(client),
      refreshToken: tokens.refreshToken,
      resource,
      fetchFn: fetch as FetchLike,
    });
    return tokenSet(next, tokens.scope);
  } catch (error) {
    if (isGrantRefused(error)) return 'refused';
    throw problemOf(error, `${server.issuer} did not renew the token`);
  }
}

/** A token for the client itself (client credentials): no person is involved. */
export async function requestClientToken(
  grant: { readonly server: AuthorizationServer; readonly client: OAuthClient; readonly resource: string },
  scope: string | undefined,
  fetch: Fetch,
): Promise<TokenSet> {
  const { server, client, resource } = grant;
  const parameters = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) parameters.set('scope', scope);
  try {
    const provider = {
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => ({ ...informationOf(client), issuer: server.issuer }),
      prepareTokenRequest: () => parameters,
    };
    const tokens = await fetchToken(provider as unknown as Parameters<typeof fetchToken>[0], server.issuer, {
      metadata: metadataOf(server),
      resource,
      fetchFn: fetch as FetchLike,
    });
    return tokenSet(tokens, scope);
  } catch (error) {
    throw problemOf(error, `${server.issuer} gave no token`);
  }
}

/** RFC 7009. False if the authorization server does not support revocation. */
export async function revokeToken(
  grant: { readonly server: AuthorizationServer; readonly client: OAuthClient },
  token: string,
  kind: 'refresh_token' | 'access_token',
  fetch: Fetch,
): Promise<boolean> {
  const { server, client } = grant;
  if (server.revocationEndpoint === undefined) return false;
  const parameters = new URLSearchParams({ token, token_type_hint: kind });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const hasBasic =
    server.clientAuthentication.length === 0 || server.clientAuthentication.includes('client_secret_basic');
  if (client.clientSecret === undefined || !hasBasic) parameters.set('client_id', client.clientId);
  if (client.clientSecret !== undefined) {
    if (hasBasic && client.authentication !== 'client_secret_post') headers.set('authorization', basic(client));
    else {
      parameters.set('client_id', client.clientId);
      parameters.set('client_secret', client.clientSecret);
    }
  }
  const answer = await fetch(server.revocationEndpoint, { method: 'POST', headers, body: parameters.toString() });
  if (!answer.ok) throw new HostError('upstream_unavailable', `${server.issuer} answered HTTP ${answer.status}`);
  return true;
}

function basic({ clientId, clientSecret = '' }: OAuthClient): string {
  const words = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return `Basic ${Buffer.from(words).toString('base64')}`;
}

function informationOf({ clientId, clientSecret, authentication }: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: clientId,
    ...omitUndefined({ client_secret: clientSecret, token_endpoint_auth_method: authentication }),
  } as OAuthClientInformationMixed;
}

/** The metadata that a token request needs. */
function metadataOf(server: AuthorizationServer): AuthorizationServerMetadata {
  const { issuer, tokenEndpoint, clientAuthentication } = server;
  return {
    issuer,
    token_endpoint: tokenEndpoint,
    ...(clientAuthentication.length === 0 ? {} : { token_endpoint_auth_methods_supported: clientAuthentication }),
  } as unknown as AuthorizationServerMetadata;
}

const MAX_TOKEN_CHARACTERS = 32 * 1024;
const MAX_LIFETIME_S = 10 * 365 * 24 * 3600;

/** RFC 6749, 5.1: an answer without a scope means that the requested scope was granted. */
function tokenSet(tokens: OAuthTokens, asked: string | undefined): TokenSet {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifetime, token_type: type } = tokens;
  if (type.toLowerCase() !== 'bearer') throw new Error(`a token of type ${foreign(type)} cannot be used`);
  for (const token of [accessToken, refreshToken ?? 'x'])
    if (token.length > MAX_TOKEN_CHARACTERS || !/^[\x21-\x7e]+$/.test(token)) throw new Error('that is not a token');
  const scope = tokens.scope !== undefined && isScopeList(tokens.scope) ? tokens.scope : asked;
  const issuedAtMs = Date.now();
  return {
    accessToken,
    ...omitUndefined({ refreshToken, scope }),
    issuedAtMs,
    ...(typeof lifetime === 'number' && lifetime > 0
      ? { expiresAtMs: issuedAtMs + Math.min(lifetime, MAX_LIFETIME_S) * 1000 }
      : {}),
  };
}
