import { Credentials } from '../broker/credentials/credentials.js';
import type { SecretWatcher } from '../broker/credentials/lender.js';
import { Vault } from '../broker/credentials/vault.js';
import type { Records } from './records.js';

/** Assembles `Credentials`: the part of `compose/compose.ts` that is loaded with the first HTTP connection. */
export function openCredentials({ store }: Pick<Records, 'store'>, watcher?: SecretWatcher): Credentials {
  return new Credentials(
    new Vault(async () => ({ store: await store.credentials(), key: await store.key() })),
    watcher,
  );
}
