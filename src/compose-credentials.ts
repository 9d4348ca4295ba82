import { Credentials } from './broker/credentials/credentials.js';
import { Vault } from './broker/credentials/vault.js';
import { Database } from './store/database.js';
import { masterKey } from './store/master-key.js';

/** Puts together what lends tokens: a part of `compose.ts` that is loaded with the first connection. */
export function openCredentials(stateFolder: string): Credentials {
  // The file is opened when the first token is looked for: programs without HTTP servers need none.
  return new Credentials(
    new Vault(async () => ({ database: await Database.open(stateFolder), key: await masterKey(stateFolder) })),
  );
}
