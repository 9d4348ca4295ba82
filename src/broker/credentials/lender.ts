import type { AuthorizationChallenge, TokenSet, UpstreamAuthorizer } from '../../domain/authorization.js';
import { HostError, isHostError } from '../../domain/errors.js';
import { type Account, unitedScope, withGuardedFetch } from './account.js';
import { obtainClientGrant } from './client-grant.js';
import type { Grant, Vault } from './vault.js';

/** A token is renewed this long before it expires, so that none expires in flight. For a short-lived one: a quarter of its lifetime. */
const RENEW_BEFORE_MS = 30_000;
/** A renewal makes at most two requests, each with its own timeout. Far shorter than the lock's lease. */
const RENEWAL_TIMEOUT_MS = 30_000;
/** Lent tokens that must still be redacted: the last few of a server. */
const MAX_REMEMBERED_SECRETS = 16;

/** Notified of every token that is lent, and of old ones that need no longer be redacted. */
export interface SecretWatcher {
  add(secret: string): void;
  remove(secret: string): void;
}

/**
 * Lends the tokens of one server. It caches nothing: each request reads the vault, so that a login, a logout and a
 * renewal by another process take effect at once.
 *
 * Refresh tokens often rotate: using one twice counts as theft and revokes the grant. So one process at a time renews,
 * under a lock in the store, and a process that waited for the lock uses the tokens that the other one obtained.
 */
export class CredentialLender implements UpstreamAuthorizer {
  readonly #account: Account;
  readonly #vault: Vault;
  readonly #watcher: SecretWatcher | undefined;
  readonly #secrets: string[] = [];
  #renewing: { readonly refused: string | undefined; readonly done: Promise<Grant> } | undefined;

  constructor(account: Account, vault: Vault, watcher?: SecretWatcher) {
    this.#account = account;
    this.#vault = vault;
    this.#watcher = watcher;
  }

  async token(): Promise<string | undefined> {
    const tokens = (await this.#vault.read(this.#account, 'grant'))?.tokens;
    if (tokens === undefined) return this.#isHeadless ? this.#lend(await this.#renewed(undefined)) : undefined;
    if (!isDue(tokens) || !this.#canRenew(tokens)) return this.#remember(tokens);
    try {
      return this.#lend(await this.#renewed(tokens.accessToken));
    } catch (error) {
      // The token is still valid for a while. The next request tries again.
      const isGood = tokens.expiresAtMs !== undefined && tokens.expiresAtMs > Date.now();
      if (isGood && isHostError(error, 'upstream_unavailable')) return this.#remember(tokens);
      throw error;
    }
  }

  async renew(refused: string | undefined, challenge: AuthorizationChallenge): Promise<void> {
    if (refused === undefined && !this.#isHeadless)
      throw await this.#loginNeeded('it asks for authorization', challenge);
    this.#lend(await this.#renewed(refused, challenge));
  }

  async widen(refused: string | undefined, challenge: AuthorizationChallenge): Promise<string | undefined> {
    const { scope } = challenge;
    if (scope === undefined) return undefined;
    if (!this.#isHeadless) {
      // The next login requests this scope too. A person's grant is not widened without that person.
      await this.#vault.locked(this.#account, async (session) => session.write('wanted', { scope }));
      return undefined;
    }
    const granted = (await this.#vault.read(this.#account, 'grant'))?.tokens?.scope;
    const united = unitedScope(granted, scope) as string;
    return united === granted ? undefined : this.#lend(await this.#renewed(refused, { ...challenge, scope: united }));
  }

  secrets(): readonly string[] {
    const { clientSecret } = this.#account.settings;
    return clientSecret === undefined ? this.#secrets : [clientSecret, ...this.#secrets];
  }

  get #isHeadless(): boolean {
    return this.#account.settings.grant === 'client_credentials';
  }

  #canRenew(tokens: TokenSet): boolean {
    return this.#isHeadless || tokens.refreshToken !== undefined;
  }

  /** Only one renewal at a time in this process: a hundred calls that find the same token expired wait for one renewal. */
  #renewed(refused: string | undefined, challenge: AuthorizationChallenge = {}): Promise<Grant> {
    if (this.#renewing !== undefined && this.#renewing.refused === refused) return this.#renewing.done;
    const done = this.#vault
      .locked(this.#account, async (session) => {
        const current = await this.#vault.read(this.#account, 'grant');
        if (current?.tokens !== undefined && current.tokens.accessToken !== refused) return current;
        const signal = AbortSignal.timeout(RENEWAL_TIMEOUT_MS);
        const next = this.#isHeadless
          ? await obtainClientGrant(this.#account, current, challenge, signal)
          : await this.#refreshed(current, challenge, signal);
        await session.write('grant', next);
        if (next.tokens === undefined)
          throw await this.#loginNeeded('the authorization was withdrawn or has expired', challenge);
        return next;
      })
      .finally(() => {
        if (this.#renewing?.done === done) this.#renewing = undefined;
      });
    this.#renewing = { refused, done };
    return done;
  }

  async #refreshed(grant: Grant | undefined, challenge: AuthorizationChallenge, signal: AbortSignal): Promise<Grant> {
    const refreshToken = grant?.tokens?.refreshToken;
    if (grant?.tokens === undefined || refreshToken === undefined)
      throw await this.#loginNeeded('its authorization has expired', challenge);
    const { refreshTokens } = await import('../../upstream/mcp/oauth/requests.js');
    const tokens = { ...grant.tokens, refreshToken };
    const next = await withGuardedFetch(this.#account, signal, (fetch) => refreshTokens(grant, tokens, fetch));
    const { tokens: _, ...rest } = grant;
    return next === 'refused' ? rest : { ...rest, tokens: next };
  }

  #lend({ tokens }: Grant): string {
    return this.#remember(tokens as TokenSet);
  }

  #remember({ accessToken, refreshToken }: TokenSet): string {
    for (const secret of [accessToken, refreshToken]) {
      if (secret === undefined || this.#secrets.includes(secret)) continue;
      this.#secrets.push(secret);
      // Added before the secret is sent to the server, which may repeat it in its answer.
      this.#watcher?.add(secret);
      if (this.#secrets.length > MAX_REMEMBERED_SECRETS) this.#watcher?.remove(this.#secrets.shift() as string);
    }
    return accessToken;
  }

  async #loginNeeded(why: string, { scope }: AuthorizationChallenge): Promise<HostError> {
    const { serverId } = this.#account;
    const wanted = scope === undefined ? '' : ` for ${scope}`;
    return new HostError('login_needed', `${why}${wanted}; type: codemode auth login ${serverId}`);
  }
}

function isDue({ issuedAtMs, expiresAtMs }: TokenSet): boolean {
  if (expiresAtMs === undefined) return false;
  const lifetimeMs = expiresAtMs - issuedAtMs;
  return Date.now() >= expiresAtMs - Math.min(RENEW_BEFORE_MS, lifetimeMs / 4);
}
