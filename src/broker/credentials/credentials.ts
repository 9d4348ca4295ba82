import type { UpstreamAuthorizer } from '../../domain/authorization.js';
import { kindOf } from '../../domain/targets/targets.js';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { type Account, accountOf, withGuardedFetch } from './account.js';
import { CredentialLender, type SecretWatcher } from './lender.js';
import type { LoginRequest } from './login.js';
import type { Grant, Vault } from './vault.js';

/** How a server is authorized, and the state of that. Never contains a token. */
export interface CredentialStatus {
  readonly serverId: string;
  /** `environment`: a local server that gets its secrets from environment variables. `header`: a token set by hand. */
  readonly method: 'environment' | 'header' | 'oauth' | 'none';
  readonly state: 'logged_in' | 'expired' | 'withdrawn' | 'not_logged_in' | 'not_needed';
  readonly grant?: Grant['grant'];
  readonly issuer?: string;
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  /** Scopes that the server required and the token lacked. The next login requests them. */
  readonly missingScopes?: readonly string[];
  readonly expiresAt?: Date;
  /** Whether an expired token is renewed without a person. */
  readonly isRenewable?: boolean;
}

/** The result of a logout. */
export interface LogoutReport {
  readonly wasKept: boolean;
  /** Whether the token was revoked at the authorization server. If that failed, `problem` says why. */
  readonly isRevoked: boolean;
  readonly problem?: string;
}

/** All credentials that the host keeps for servers. They leave it only as a header of a request to their own server. */
export class Credentials {
  readonly #vault: Vault;
  readonly #watcher: SecretWatcher | undefined;
  readonly #lenders = new Map<string, CredentialLender>();

  constructor(vault: Vault, watcher?: SecretWatcher) {
    this.#vault = vault;
    this.#watcher = watcher;
  }

  /** The authorizer that lends tokens for this server; undefined if the user sets the token, or none can be sent. */
  authorizerFor(definition: UpstreamDefinition): UpstreamAuthorizer | undefined {
    const account = accountOf(definition);
    if (account === undefined) return undefined;
    const lender = new CredentialLender(account, this.#vault, this.#watcher);
    this.#lenders.set(definition.id, lender);
    return lender;
  }

  /** Secrets that this process has lent. They must be redacted in everything that leaves it. */
  secrets(): string[] {
    return [...this.#lenders.values()].flatMap((lender) => lender.secrets());
  }

  async login(account: Account, request: LoginRequest): Promise<CredentialStatus> {
    const { login } = await import('./login.js');
    return statusOf(account.serverId, await login(account, this.#vault, request), undefined);
  }

  /** Revokes the tokens at the authorization server if possible. Deletes everything in any case. */
  async logout(serverId: string, account: Account | undefined): Promise<LogoutReport> {
    if (account === undefined) return { wasKept: await this.#vault.forget(serverId), isRevoked: false };
    // Under the lock: a renewal in progress elsewhere ends first, and its token is revoked as well.
    return this.#vault.locked(account, async () => {
      const grant = await this.#vault.read(account, 'grant');
      let isRevoked = false;
      let problem: string | undefined;
      try {
        isRevoked = grant !== undefined && (await revoke(account, grant));
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
      }
      const wasKept = await this.#vault.forget(serverId);
      return { wasKept, isRevoked, ...omitUndefined({ problem }) };
    });
  }

  async status(definition: UpstreamDefinition): Promise<CredentialStatus> {
    const { id: serverId, target, oauth } = definition;
    const account = accountOf(definition);
    if (account === undefined)
      return { serverId, method: kindOf(target).credentialMethodOf(target), state: 'not_needed' };
    const grant = await this.#vault.read(account, 'grant');
    const wanted = await this.#vault.read(account, 'wanted');
    if (grant !== undefined) return statusOf(serverId, grant, wanted?.scope);
    if (oauth === undefined) return { serverId, method: 'none', state: 'not_logged_in' };
    return { serverId, method: 'oauth', state: 'not_logged_in', grant: oauth.grant };
  }

  /** Servers with stored credentials that the configuration does not contain. */
  async leftovers(known: readonly string[]): Promise<string[]> {
    return (await this.#vault.servers()).filter((id) => !known.includes(id));
  }
}

async function revoke(account: Account, grant: Grant): Promise<boolean> {
  const { tokens } = grant;
  if (tokens === undefined) return false;
  const { revokeToken } = await import('../../upstream/mcp/oauth/requests.js');
  return withGuardedFetch(account, undefined, async (fetch) => {
    // The refresh token first: most authorization servers also revoke the tokens derived from it.
    if (tokens.refreshToken !== undefined) await revokeToken(grant, tokens.refreshToken, 'refresh_token', fetch);
    return revokeToken(grant, tokens.accessToken, 'access_token', fetch);
  });
}

function statusOf(
  serverId: string,
  { grant, server, client, tokens }: Grant,
  wanted: string | undefined,
): CredentialStatus {
  const granted = words(tokens?.scope);
  const missing = words(wanted).filter((scope) => !granted.includes(scope));
  const isRenewable = grant === 'client_credentials' || tokens?.refreshToken !== undefined;
  const isOver = tokens?.expiresAtMs !== undefined && tokens.expiresAtMs <= Date.now();
  return {
    serverId,
    method: 'oauth',
    state: tokens === undefined ? 'withdrawn' : isOver && !isRenewable ? 'expired' : 'logged_in',
    grant,
    issuer: server.issuer,
    clientId: client.clientId,
    scopes: granted,
    ...(missing.length === 0 ? {} : { missingScopes: missing }),
    ...omitUndefined({ expiresAt: ifDefined(tokens?.expiresAtMs, (expiresAtMs) => new Date(expiresAtMs)) }),
    isRenewable,
  };
}

function words(scope: string | undefined): string[] {
  return (scope ?? '').split(' ').filter((word) => word !== '');
}
