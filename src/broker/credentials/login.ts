import { randomBytes } from 'node:crypto';
import type { OAuthClient } from '../../domain/authorization.js';
import { HostError } from '../../domain/errors.js';
import { LinkedAbort } from '../../lib/async/linked-abort.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { AuthorizationPlan } from '../../upstream/mcp/oauth/discovery.js';
import type { Fetch } from '../../upstream/mcp/oauth/guarded-fetch.js';
import { type Account, unitedScope, withGuardedFetch } from './account.js';
import { obtainClientGrant } from './client-grant.js';
import { LoopbackReceiver } from './loopback.js';
import type { Grant, Registration, Vault } from './vault.js';

const STATE_BYTES = 32;

export interface LoginRequest {
  /** Replaces the scopes of the configuration. */
  readonly scopes?: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called once, with the URL that a person must open and the port that the browser will be redirected to. */
  onAddress(url: URL, details: { readonly issuer: string; readonly port: number; readonly scope?: string }): void;
}

/** Obtains a grant, from a person with a browser or for the client itself, and stores it in the vault. */
export async function login(account: Account, vault: Vault, request: LoginRequest): Promise<Grant> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  // Not `AbortSignal.any`: Node 20 may collect the deadline, and then it never fires.
  const ends = new LinkedAbort([request.signal, deadline]);
  const { signal } = ends;
  try {
    if (account.settings.grant === 'client_credentials') return await loginClient(account, vault, request, signal);
    return await withGuardedFetch(account, signal, (fetch) => loginPerson(account, vault, request, signal, fetch));
  } catch (error) {
    if (request.signal?.aborted === true) throw new HostError('cancelled', 'interrupted');
    if (deadline.aborted)
      throw new HostError(
        'login_needed',
        `nobody logged in within ${Math.round(request.timeoutMs / 1000)} s; try again`,
      );
    throw error;
  } finally {
    ends.release();
  }
}

async function loginClient(
  account: Account,
  vault: Vault,
  { scopes }: LoginRequest,
  signal: AbortSignal,
): Promise<Grant> {
  return vault.locked(account, async (session) => {
    const current = await vault.read(account, 'grant');
    const asked = scopes === undefined ? account : { ...account, settings: { ...account.settings, scopes } };
    const { tokens: _, ...known } = current ?? {};
    const grant = await obtainClientGrant(asked, current === undefined ? undefined : (known as Grant), {}, signal);
    await session.write('grant', grant);
    return grant;
  });
}

async function loginPerson(
  account: Account,
  vault: Vault,
  request: LoginRequest,
  signal: AbortSignal,
  fetch: Fetch,
): Promise<Grant> {
  const { askForChallenge, discoverAuthorization } = await import('../../upstream/mcp/oauth/discovery.js');
  const oauth = await import('../../upstream/mcp/oauth/requests.js');
  const { settings } = account;
  const challenge = await askForChallenge(account.url, account.headers, fetch);
  const plan = await discoverAuthorization({
    serverUrl: account.url,
    challenge,
    fetch,
    ...omitUndefined({ issuer: settings.issuer }),
  });
  const before = await vault.read(account, 'grant');
  checkSameIssuer(account, before, plan.server.issuer);
  const registration = await vault.read(account, 'registration');
  const wanted = await vault.read(account, 'wanted');

  const chosen = request.scopes ?? settings.scopes;
  const needed = chosen === undefined ? (challenge.scope ?? plan.scopes.join(' ')) : chosen.join(' ');
  const scope = withOfflineAccess(unitedScope(needed, wanted?.scope, before?.tokens?.scope), plan);

  // The same port as last time, if it is free: some authorization servers registered the client with it.
  const lastPort = registration === undefined ? 0 : Number(new URL(registration.redirectUri).port);
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const receiver = await LoopbackReceiver.open(state, {
    port: settings.redirectPort ?? lastPort,
    isMust: settings.redirectPort !== undefined,
  });
  try {
    const { redirectUri, port } = receiver;
    const { issuer } = plan.server;
    const scoped = omitUndefined({ scope });
    const known = isFit(registration, { issuer, redirectUri, ...scoped }) ? registration : undefined;
    const client =
      configuredClient(account, plan) ??
      known?.client ??
      (await oauth.registerClient(plan, { redirectUri, ...scoped }, fetch));
    const { url, codeVerifier } = await oauth.authorizationAddress(plan, client, { redirectUri, state, ...scoped });
    request.onAddress(url, { issuer, port, ...scoped });

    const answer = await receiver.answer(signal);
    let isGood = false;
    try {
      const { code } = oauth.readAuthorizationAnswer(plan, answer.parameters);
      const tokens = await oauth.exchangeCode(plan, client, { code, codeVerifier, redirectUri, ...scoped }, fetch);
      const grant: Grant = { grant: 'authorization_code', ...savedPlan(plan), client, tokens };
      await vault.locked(account, async (session) => {
        await session.write('grant', grant);
        await session.remove('wanted');
        if (settings.clientId === undefined && client.clientId !== settings.clientMetadataUrl)
          await session.write('registration', known ?? { issuer, redirectUri, client, ...scoped });
      });
      isGood = true;
      return grant;
    } finally {
      answer.finish(isGood);
    }
  } finally {
    await receiver.close();
  }
}

function isFit(
  registration: Registration | undefined,
  { issuer, redirectUri, scope }: Omit<Registration, 'client'>,
): registration is Registration {
  if (registration?.issuer !== issuer || registration.redirectUri !== redirectUri) return false;
  return unitedScope(registration.scope, scope) === registration.scope;
}

/**
 * A server that names another authorization server than before may have been taken over, and the next thing sent there is a
 * secret or a person's password. So the user has to confirm the change.
 */
function checkSameIssuer({ serverId, settings }: Account, before: Grant | undefined, issuer: string): void {
  if (before === undefined || before.server.issuer === issuer || settings.issuer !== undefined) return;
  throw new HostError(
    'login_needed',
    `the server names ${issuer} as its authorization server, and the last login was at ${before.server.issuer}; ` +
      `if that is right, type first: codemode auth logout ${serverId}`,
  );
}

/** An existing client: registered by hand, or described by a client metadata document. */
function configuredClient({ serverId, settings }: Account, plan: AuthorizationPlan): OAuthClient | undefined {
  const { clientId, clientSecret, clientMetadataUrl } = settings;
  if (clientId !== undefined) return { clientId, ...omitUndefined({ clientSecret }) };
  if (clientMetadataUrl !== undefined && plan.takesClientMetadataUrl) return { clientId: clientMetadataUrl };
  if (plan.canRegister) return undefined;
  throw new HostError(
    'login_needed',
    `${plan.server.issuer} does not register clients automatically; register one there, with a redirect to ` +
      `http://127.0.0.1:PORT/callback, and set auth.clientId and auth.redirectPort of server ${JSON.stringify(serverId)}`,
  );
}

function withOfflineAccess(scope: string | undefined, { offersOfflineAccess }: AuthorizationPlan): string | undefined {
  return scope === undefined || !offersOfflineAccess ? scope : unitedScope(scope, 'offline_access');
}

function savedPlan({ server, resource }: AuthorizationPlan) {
  return { server: { ...server, clientAuthentication: [...server.clientAuthentication] }, resource };
}
