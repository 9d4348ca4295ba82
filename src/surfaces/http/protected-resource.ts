import type { FastifyInstance } from 'fastify';
import { AGENT_SCOPES } from '../../domain/principal.js';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const MCP_PATH = '/mcp';

/** Where tokens come from an issuer: how clients find out which one (RFC 9728), as MCP's authorization asks of servers. */
export interface ProtectedResource {
  readonly issuer: string;
  /** What tokens must be made out to. Where it is an address, it is the one that clients use. */
  readonly audience: string;
}

/** The document itself. Public, because clients fetch it before they have a token. */
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

/** The address of the document, for the challenge of a request that was refused. */
export function metadataAddress({ audience }: ProtectedResource, host: string | undefined): string {
  return `${originFor(audience, host)}${WELL_KNOWN}${MCP_PATH}`;
}

/** What a client reaches us by. TLS ends in a proxy, which only the configured address knows of. */
function originFor(audience: string, host = 'localhost'): string {
  return addressOf(audience)?.origin ?? `http://${host}`;
}

function addressOf(audience: string): URL | undefined {
  return /^https?:/.test(audience) && URL.canParse(audience) ? new URL(audience) : undefined;
}
