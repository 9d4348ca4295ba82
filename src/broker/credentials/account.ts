import type { OAuthSettings } from '../../domain/authorization.js';
import { authorizationOf } from '../../domain/targets/target-kind.js';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { CredentialOwner } from '../../store/credentials.js';
import type { Fetch } from '../../upstream/mcp/oauth/guarded-fetch.js';

/** One server for which tokens are kept: who it is, where it is, and what the user set for it. */
export interface Account extends CredentialOwner {
  readonly settings: OAuthSettings;
  /** What the user sends along with every request to the server. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What authorization is where the configuration says nothing of it. */
const DEFAULT_SETTINGS: OAuthSettings = { grant: 'authorization_code', allowPrivateAddresses: false };

/** Nothing for servers that are not reached over HTTP, and for those whose token the user gives as a header. */
export function accountOf({ id, target, oauth }: UpstreamDefinition): Account | undefined {
  if (target.kind !== 'http' || authorizationOf(target.headers) !== undefined) return undefined;
  return { serverId: id, url: target.url, settings: oauth ?? DEFAULT_SETTINGS, headers: target.headers };
}

/** Does something with the guarded way out, and closes it. */
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

/** Every scope of these lists once, in the order in which they came; nothing where there is none. */
export function unitedScope(...lists: (string | undefined)[]): string | undefined {
  const scopes = new Set(lists.flatMap((list) => (list ?? '').split(' ')).filter((scope) => scope !== ''));
  return scopes.size === 0 ? undefined : [...scopes].join(' ');
}
