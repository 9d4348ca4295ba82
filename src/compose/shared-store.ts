import { stateFolder } from '../config/files/state-folder.js';
import { sharedStore } from '../config/shared-store.js';
import { readEnvironment } from '../config/variables/environment.js';
import { HostError } from '../domain/errors.js';
import type { CopiedRows, CopyDirection, SharedStoreAdmin } from '../domain/shared-store.js';
import type { HostSettings } from '../surfaces/cli/composed.js';
import { loadSettings } from './settings.js';
import { composeKey } from './state.js';

/** The database that hosts share, or undefined if this machine's state folder is used. */
export async function composeSharedStore(settings: HostSettings): Promise<SharedStoreAdmin | undefined> {
  const shared = sharedStore(await loadSettings(settings), readEnvironment(), process.cwd());
  if (shared === undefined) return undefined;
  const { administer } = await import('../store/postgres/database/administer.js');
  return administer({ url: shared.url, key: shared.key, applicationName: 'codemode store' });
}

/** Copies the portable data between this machine's state folder and the database. Both use the same key. */
export async function copyStore(settings: HostSettings, direction: CopyDirection): Promise<CopiedRows> {
  const shared = sharedStore(await loadSettings(settings), readEnvironment(), process.cwd());
  if (shared === undefined) {
    throw new HostError(
      'bad_config',
      'no `store` is configured; set CODEMODE_STORE to postgres://user:password@host/database',
    );
  }
  const folder = stateFolder(readEnvironment());
  const keeper = await composeKey(settings);
  const given = await shared.key();
  const own = await (direction === 'to-state-folder' ? keeper.readOrKeep(given) : keeper.read());
  if (!Buffer.from(own).equals(given)) {
    throw new HostError(
      'bad_config',
      `what is copied stays sealed, so both need one key. Give hosts the key of the state folder: set security.keyFile to ${folder}/key ` +
        '(after: codemode auth key move-to-file)',
    );
  }
  const { copyRows } = await import('../store/copy.js');
  return copyRows({ direction, stateFolder: folder, postgres: { url: shared.url }, key: own });
}
