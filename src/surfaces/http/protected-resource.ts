import type { FastifyInstance } from 'fastify';
import { AGENT_SCOPES } from '../../domain/principal.js';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const MCP_PATH = '/mcp';

/** If an issuer gives out the tokens: how clients find that issuer (RFC 9728), as MCP authorization requires of servers. */
export interface ProtectedResource {
  readonly issuer: string;
  /** The audience that tokens must have. If it is a URL, it is the one that clients use. */
  readonly audience: string;
}

/** The metadata document. Public, because clients fetch it before they have a token. */
export function mountProtectedResource(app: FastifyInstance, { issuer, audience }: ProtectedResource): void {
  for (const path of [WELL_KNOWN, `${WELL_KNOWN}${MCP_PATH}`])
    app.get(path, { config: { isPublic: true } }, ({ headers }) => ({
      resource: addressOf(audience)?.href ?? `${originFor(audience, headers.host)}${MCP_PATH}`,
      authorization_servers: [issuer],
      scopes_supported: [...AGENT_SCOPES],
      bearer_methods_supported: ['header'],
      resource_name: 'codemode',
    }));
}

/** The URL of the document, for the challenge in the response to a refused request. */
export function metadataAddress({ audience }: ProtectedResource, host: string | undefined): string {
  return `${originFor(audience, host)}${WELL_KNOWN}${MCP_PATH}`;
}

/** The origin that clients use. TLS ends in a proxy, so only the configured URL knows it. */
function originFor(audience: string, host = 'localhost'): string {
  return addressOf(audience)?.origin ?? `http://${host}`;
}

function addressOf(audience: string): URL | undefined {
  return /^https?:/.test(audience) && URL.canParse(audience) ? new URL(audience) : undefined;
}
