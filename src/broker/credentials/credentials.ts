import type { UpstreamAuthorizer } from '../../domain/authorization.js';
import { kindOf } from '../../domain/targets/targets.js';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { type Account, accountOf, withGuardedFetch } from './account.js';
import { CredentialLender, type SecretWatcher } from './lender.js';
import type { LoginRequest } from './login.js';
import type { Grant, Vault } from './vault.js';

/** How a server is authorized for, and how far that has come. Never a token. */
export interface CredentialStatus {
  readonly serverId: string;
  /** `environment` for a local server, which gets its secrets by its variables; `header` for a token set by hand. */
  readonly method: 'environment' | 'header' | 'oauth' | 'none';
  readonly state: 'logged_in' | 'expired' | 'withdrawn' | 'not_logged_in' | 'not_needed';
  readonly grant?: Grant['grant'];
  readonly issuer?: string;
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  /** Scopes that the server missed: the next login asks for them. */
  readonly missingScopes?: readonly string[];
  readonly expiresAt?: Date;
  /** Whether an expired token is renewed without a person. */
  readonly isRenewable?: boolean;
}

/** What ended with a logout. */
export interface LogoutReport {
  readonly wasKept: boolean;
  /** Whether the authorization server was told; `problem` says why not, where it should have been. */
  readonly isRevoked: boolean;
  readonly problem?: string;
}

/** Everything the host keeps to be let in by servers. Nothing of it leaves but as a header of a request to its server. */
export class Credentials {
  readonly #vault: Vault;
  readonly #watcher: SecretWatcher | undefined;
  readonly #lenders = new Map<string, CredentialLender>();

  constructor(vault: Vault, watcher?: SecretWatcher) {
    this.#vault = vault;
    this.#watcher = watcher;
  }

  /** Who lends the tokens for this server; nobody where the user gives them, or none can be sent. */
  authorizerFor(definition: UpstreamDefinition): UpstreamAuthorizer | undefined {
    const account = accountOf(definition);
    if (account === undefined) return undefined;
    const lender = new CredentialLender(account, this.#vault, this.#watcher);
    this.#lenders.set(definition.id, lender);
    return lender;
  }

  /** Secrets that were lent by this process: what must be looked for in everything that leaves it. */
  secrets(): string[] {
    return [...this.#lenders.values()].flatMap((lender) => lender.secrets());
  }

  async login(account: Account, request: LoginRequest): Promise<CredentialStatus> {
    const { login } = await import('./login.js');
    return statusOf(account.serverId, await login(account, this.#vault, request), undefined);
  }

  /** Tells the authorization server, where it can be told, and forgets everything in any case. */
  async logout(serverId: string, account: Account | undefined): Promise<LogoutReport> {
    if (account === undefined) return { wasKept: await this.#vault.forget(serverId), isRevoked: false };
    // Under the lock: a renewal that is in progress elsewhere ends first, and its token is revoked as well.
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

  /** Servers of which something is kept that the configuration does not know. */
  async leftovers(known: readonly string[]): Promise<string[]> {
    return (await this.#vault.servers()).filter((id) => !known.includes(id));
  }
}

async function revoke(account: Account, grant: Grant): Promise<boolean> {
  const { tokens } = grant;
  if (tokens === undefined) return false;
  const { revokeToken } = await import('../../upstream/mcp/oauth/requests.js');
  return withGuardedFetch(account, undefined, async (fetch) => {
    // The refresh token first: most authorization servers end everything that came of it.
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
    ...(tokens?.expiresAtMs === undefined ? {} : { expiresAt: new Date(tokens.expiresAtMs) }),
    isRenewable,
  };
}

function words(scope: string | undefined): string[] {
  return (scope ?? '').split(' ').filter((word) => word !== '');
}
