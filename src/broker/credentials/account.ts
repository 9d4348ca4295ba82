import type { OAuthSettings } from '../../domain/authorization.js';
import { authorizationOf } from '../../domain/targets/target-kind.js';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { CredentialOwner } from '../../store/credentials.js';
import type { Fetch } from '../../upstream/mcp/oauth/guarded-fetch.js';

/** One server for which tokens are kept: its name, its URL, and the user's settings for it. */
export interface Account extends CredentialOwner {
  readonly settings: OAuthSettings;
  /** The user's headers for every request to the server. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The settings if the configuration has none. */
const DEFAULT_SETTINGS: OAuthSettings = { grant: 'authorization_code', allowPrivateAddresses: false };

/** Undefined for servers that are not reached over HTTP, and for those whose token the user sets as a header. */
export function accountOf({ id, target, oauth }: UpstreamDefinition): Account | undefined {
  if (target.kind !== 'http' || authorizationOf(target.headers) !== undefined) return undefined;
  return { serverId: id, url: target.url, settings: oauth ?? DEFAULT_SETTINGS, headers: target.headers };
}

/** Calls a function with a guarded fetch, and closes it afterwards. */
export async function withGuardedFetch<Result>(
  { url, settings }: Account,
  signal: AbortSignal | undefined,
  work: (fetch: Fetch) => Promise<Result>,
): Promise<Result> {
  const { createGuardedFetch } = await import('../../upstream/mcp/oauth/guarded-fetch.js');
  const { allowPrivateAddresses } = settings;
  const guarded = createGuardedFetch({
    serverUrl: url,
    allowPrivateAddresses,
    ...omitUndefined({ signal }),
  });
  try {
    return await work(guarded.fetch);
  } finally {
    await guarded.close();
  }
}

/** Every scope of these lists once, in the original order; undefined if there are none. */
export function unitedScope(...lists: (string | undefined)[]): string | undefined {
  const scopes = new Set(lists.flatMap((list) => (list ?? '').split(' ')).filter((scope) => scope !== ''));
  return scopes.size === 0 ? undefined : [...scopes].join(' ');
}
