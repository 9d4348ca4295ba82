import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Principal } from '../../domain/principal.js';

/** The MCP library passes this on with a request. The token's owner was identified before. */
export function authInfoOf(principal: Principal): AuthInfo {
  return { token: '', clientId: principal.subject, scopes: [...principal.scopes], extra: { principal } };
}

/** Owner of the request's token. Undefined over stdio, which has no tokens. */
export function principalOf(authInfo: AuthInfo | undefined): Principal | undefined {
  return authInfo?.extra?.['principal'] as Principal | undefined;
}
