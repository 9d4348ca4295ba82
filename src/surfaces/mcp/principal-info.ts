import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Principal } from '../../domain/principal.js';

/** The MCP library hands on what it is given with a request: whose token it was is found out before. */
export function authInfoOf(principal: Principal): AuthInfo {
  return { token: '', clientId: principal.subject, scopes: [...principal.scopes], extra: { principal } };
}

/** Whose request it is; undefined over stdio, where no tokens are. */
export function principalOf(authInfo: AuthInfo | undefined): Principal | undefined {
  return authInfo?.extra?.['principal'] as Principal | undefined;
}
