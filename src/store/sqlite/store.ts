import type { CallerQuotas } from '../../domain/quotas.js';
import { once } from '../../lib/async/once.js';
import type { Store } from '../store.js';
import { SqliteApprovalStore } from './approvals.js';
import { hasApproverSecret, isApproverSecret, makeApproverSecret } from './approver-secret.js';
import { CatalogCacheFiles } from './catalog-cache.js';
import { SqliteCredentialStore } from './credentials.js';
import { ObservedTypesFile } from './observed-types-file.js';
import { SqliteRunStore } from './runs/runs.js';
import { scriptSign } from './script-sign.js';
import { SqliteScriptStore } from './scripts.js';
import { SqliteSpendingStore } from './spending.js';
import { SqliteUndoStore } from './undo.js';

export interface SqliteStoreOptions {
  readonly stateFolder: string;
  readonly key: () => Promise<Uint8Array>;
  readonly quotas: CallerQuotas;
}

/** What outlives a host in a state folder: one SQLite file, and files beside it. */
export function openSqliteStore({ stateFolder, key, quotas }: SqliteStoreOptions): Store {
  const database = once(async () => {
    const { Database } = await import('./database.js');
    return Database.open(stateFolder);
  });
  return {
    runs: once(async () => new SqliteRunStore(await database(), await key(), { quotas })),
    approvals: once(async () => new SqliteApprovalStore(await database(), await key())),
    audit: once(async () => {
      const { SqliteAuditStore } = await import('./audit/audit.js');
      return SqliteAuditStore.open(await database(), await key(), stateFolder);
    }),
    spending: once(async () => new SqliteSpendingStore(await database())),
    scripts: once(async () => new SqliteScriptStore(await database(), await key())),
    scriptSign: scriptSign(stateFolder),
    undo: once(async () => new SqliteUndoStore(await database(), await key())),
    credentials: once(async () => new SqliteCredentialStore(await database())),
    presence: once(async () => {
      const { SqlitePresenceStore } = await import('./presence.js');
      return new SqlitePresenceStore(await database(), await key());
    }),
    consoleAccess: once(async () => {
      const { SqliteConsoleAccess } = await import('./console-access.js');
      return new SqliteConsoleAccess(await database(), await key());
    }),
    catalogCache: new CatalogCacheFiles(stateFolder),
    observedTypes: new ObservedTypesFile(stateFolder),
    accessToken: async () => {
      const { accessToken } = await import('./access-token.js');
      return accessToken(stateFolder);
    },
    approverSecret: {
      make: () => makeApproverSecret(stateFolder),
      isRight: (secret) => isApproverSecret(stateFolder, secret),
      isMade: () => hasApproverSecret(stateFolder),
    },
    key,
    isUp: async () => true,
    close: async () => {
      if (!database.isCalled()) return;
      await database().then(
        (opened) => opened.close(),
        () => {},
      );
    },
  };
}
