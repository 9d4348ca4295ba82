import { CallerQuotas } from '../../src/domain/quotas.js';
import { once } from '../../src/lib/async/once.js';
import { masterKey } from '../../src/store/master-key.js';
import { openSqliteStore } from '../../src/store/sqlite/store.js';
import type { Store } from '../../src/store/store.js';

/** The store of a state folder, whose key is a file. */
export function storeIn(stateFolder: string, quotas = new CallerQuotas()): Store {
  return openSqliteStore({ stateFolder, key: once(() => masterKey(stateFolder)), quotas });
}
