import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  extractWWWAuthenticateParams,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { AuthorizationChallenge, AuthorizationServer } from '../../../domain/authorization.js';
import { HostError } from '../../../domain/errors.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { maskAddress } from '../../../lib/secrets/address-secrets.js';
import { oneLine } from '../../../lib/text/bounded-text.js';
import { problemOf } from './failures.js';
import { checkScheme, type Fetch } from './guarded-fetch.js';

const CHALLENGE_METHODS = 'S256';

/** The authorization server of an upstream, and the parameters of its token requests. */
export interface AuthorizationPlan {
  /** The value of every `resource` parameter (RFC 8707). A token for it is valid for this server and no other. */
  readonly resource: string;
  /** All scopes that the server supports, if it lists them. */
  readonly scopes: readonly string[];
  readonly server: AuthorizationServer;
  /** Whether the URL of our client metadata can be used instead of a registration. */
  readonly takesClientMetadataUrl: boolean;
  readonly canRegister: boolean;
  readonly offersOfflineAccess: boolean;
  /** The metadata as it was found, for the client library. */
  readonly metadata: AuthorizationServerMetadata;
}

export interface DiscoveryRequest {
  readonly serverUrl: string;
  readonly challenge: AuthorizationChallenge;
  /** The only authorization server that is accepted. */
  readonly issuer?: string;
  readonly fetch: Fetch;
}

/**
 * Finds the authorization server of a server: RFC 9728, then RFC 8414 or OpenID discovery. The metadata must name the issuer it was
 * requested from, so that no authorization server can speak for another. Throws `upstream_unavailable`.
 */
export async function discoverAuthorization(request: DiscoveryRequest): Promise<AuthorizationPlan> {
  const found = await protectedResource(request);
  const issuer = chooseIssuer(found?.authorization_servers ?? [], request);
  let metadata: AuthorizationServerMetadata | undefined;
  try {
    metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: request.fetch as typeof fetch });
  } catch (error) {
    throw problemOf(error, `the metadata of ${oneLine(issuer, 200)} cannot be used`);
  }
  if (metadata === undefined)
    throw unusable(`${oneLine(issuer, 200)} publishes no authorization server metadata (RFC 8414)`);
  return planOf(metadata, found?.resource ?? resourceOf(request.serverUrl), found?.scopes_supported ?? []);
}

/** The server's answer to a request without a token. Empty if it does not ask for one. */
export async function askForChallenge(
  serverUrl: string,
  headers: Readonly<Record<string, string>>,
  fetch: Fetch,
): Promise<AuthorizationChallenge> {
  const answer = await fetch(serverUrl, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  return challengeOf(answer);
}

export function challengeOf(answer: Response): AuthorizationChallenge & { readonly error?: string } {
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(answer);
  return {
    ...omitUndefined({ resourceMetadataUrl: resourceMetadataUrl?.href }),
    ...(scope === undefined || !isScopeList(scope) ? {} : { scope }),
    ...omitUndefined({ error }),
  };
}

/** RFC 6749, 3.3: printable, without quotes and backslashes. Anything else is not a scope list, and is not repeated. */
export function isScopeList(text: string): boolean {
  return text.length <= MAX_SCOPE_CHARACTERS && /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text);
}

const MAX_SCOPE_CHARACTERS = 2_000;
const MAX_LISTED = 100;

const resourceSchema = z.looseObject({
  resource: z.string().max(2_000),
  authorization_servers: z.array(z.string().max(2_000)).max(MAX_LISTED).optional(),
  scopes_supported: z.array(z.string().refine(isScopeList)).max(MAX_LISTED).optional().catch([]),
});

async function protectedResource({ serverUrl, challenge, fetch }: DiscoveryRequest) {
  const server = new URL(serverUrl);
  const path = server.pathname.replace(/\/$/, '');
  const wellKnown = [`/.well-known/oauth-protected-resource${path}`, '/.well-known/oauth-protected-resource'];
  const places =
    challenge.resourceMetadataUrl === undefined
      ? [...new Set(wellKnown)].map((place) => new URL(place, server))
      : [new URL(challenge.resourceMetadataUrl)];
  for (const place of places) {
    const answer = await fetch(place, { headers: { accept: 'application/json' } });
    if (!answer.ok && answer.status < 500) continue;
    const parsed = resourceSchema.safeParse(await answer.json().catch(() => undefined));
    if (!parsed.success)
      throw unusable(`${place.origin} describes the server with metadata that cannot be read (RFC 9728)`);
    // A server may only describe itself: otherwise it could have tokens issued for another server.
    const { resource } = parsed.data;
    if (!URL.canParse(resource) || !isFor(serverUrl, resource))
      throw unusable(`the metadata is for ${shown(resource)}, which is not ${shown(resourceOf(serverUrl))}`);
    return parsed.data;
  }
  if (challenge.resourceMetadataUrl !== undefined)
    throw unusable(`${shown(challenge.resourceMetadataUrl)}, which the server names, has no metadata`);
  return undefined;
}

/** A URL may itself be a secret: one of the user's own, or one that a server derived from it. */
function shown(address: string): string {
  return oneLine(maskAddress(address), 200);
}

function isFor(serverUrl: string, resource: string): boolean {
  return checkResourceAllowed({
    requestedResource: resourceUrlFromServerUrl(serverUrl),
    configuredResource: resource,
  });
}

function resourceOf(serverUrl: string): string {
  return resourceUrlFromServerUrl(serverUrl).href;
}

/** An older server has no list: then its own origin is used. */
function chooseIssuer(listed: readonly string[], { serverUrl, issuer }: DiscoveryRequest): string {
  const choices = listed.length > 0 ? listed : [new URL('/', serverUrl).href];
  if (issuer === undefined) return choices[0] as string;
  const chosen = choices.find((each) => isSameIssuer(each, issuer));
  if (chosen !== undefined) return chosen;
  throw unusable(
    `the server sends us to ${oneLine(choices.join(', '), 300)}, but auth.issuer allows only ${issuer}; correct the one that is wrong`,
  );
}

export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

function planOf(metadata: AuthorizationServerMetadata, resource: string, scopes: readonly string[]): AuthorizationPlan {
  const { issuer, token_endpoint: tokenEndpoint } = metadata;
  const { revocation_endpoint: revocationEndpoint } = metadata as { revocation_endpoint?: unknown };
  for (const address of [metadata.authorization_endpoint, tokenEndpoint]) {
    if (!URL.canParse(address))
      throw unusable(`${oneLine(issuer, 200)} names ${oneLine(address, 200)}, which is not an address`);
    checkScheme(new URL(address));
  }
  // Without PKCE a stolen code is enough to log in. The MCP specification forbids continuing then.
  if (metadata.code_challenge_methods_supported?.includes(CHALLENGE_METHODS) !== true)
    throw unusable(`${oneLine(issuer, 200)} does not announce PKCE (S256), which a login requires`);
  return {
    resource,
    scopes,
    server: {
      issuer,
      tokenEndpoint,
      ...(typeof revocationEndpoint === 'string' ? { revocationEndpoint } : {}),
      clientAuthentication: metadata.token_endpoint_auth_methods_supported ?? [],
    },
    takesClientMetadataUrl: metadata.client_id_metadata_document_supported === true,
    canRegister: metadata.registration_endpoint !== undefined,
    offersOfflineAccess: metadata.scopes_supported?.includes('offline_access') === true,
    metadata,
  };
}

function unusable(message: string): HostError {
  return new HostError('upstream_unavailable', message);
}
