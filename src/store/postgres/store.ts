import type { CallerQuotas } from '../../domain/quotas.js';
import { once } from '../../lib/async/once.js';
import type { Store } from '../store.js';
import type { PostgresOptions } from './database/connection.js';
import {
  SealedValues,
  sharedAccessToken,
  sharedApproverSecret,
  sharedCatalogCache,
  sharedObservedTypes,
  sharedResults,
} from './database/sealed-values.js';

export interface PostgresStoreOptions extends PostgresOptions {
  /** The key that all hosts were given. */
  readonly key: () => Promise<Uint8Array>;
  readonly leaseMs: number;
  readonly quotas: CallerQuotas;
  /** The state folder of this machine. It keeps what the machine has seen of the audit log. */
  readonly stateFolder: string;
}

/** What hosts of one database share. The first use connects, brings the schema up to date and announces this host. */
export function openPostgresStore({ key, leaseMs, quotas, stateFolder, ...options }: PostgresStoreOptions): Store {
  const opened = once(async () => {
    const [{ openDatabase }, { HostLease }, { Wakes }] = await Promise.all([
      import('./database/open-database.js'),
      import('./host-lease.js'),
      import('./queue/wakes.js'),
    ]);
    const postgres = await openDatabase(options, await key());
    try {
      const host = await HostLease.begin(postgres, { leaseMs });
      return { postgres, host, wakes: new Wakes(postgres), key: await key() };
    } catch (error) {
      await postgres.close();
      throw error;
    }
  });
  const runs = once(async () => {
    const [{ PostgresRunStore }, { postgres, key, host }] = await Promise.all([import('./runs/runs.js'), opened()]);
    return new PostgresRunStore(postgres, key, { host, quotas });
  });
  const audit = once(async () => {
    const [{ PostgresAuditStore }, { postgres, host, key }] = await Promise.all([import('./audit/audit.js'), opened()]);
    return new PostgresAuditStore(postgres, key, host, stateFolder);
  });
  const probe = once(async () => {
    const [{ Probe }, { postgres }] = await Promise.all([import('./database/probe.js'), opened()]);
    return new Probe(postgres);
  });
  const figures = once(async () => {
    const [{ Figures }, { postgres, host }] = await Promise.all([import('./database/figures.js'), opened()]);
    return new Figures(postgres, host);
  });
  const values = once(async () => {
    const { postgres, key } = await opened();
    return new SealedValues(postgres, key);
  });
  return {
    runs,
    approvals: once(async () => {
      const [{ PostgresApprovalStore }, parts] = await Promise.all([import('./approvals.js'), opened()]);
      return new PostgresApprovalStore(parts.postgres, parts.key, parts.wakes);
    }),
    audit,
    spending: once(async () => {
      const { PostgresSpendingStore } = await import('./spending.js');
      return new PostgresSpendingStore((await opened()).postgres);
    }),
    rates: once(async () => {
      const { PostgresRateStore } = await import('./rates.js');
      return new PostgresRateStore((await opened()).postgres);
    }),
    scripts: once(async () => {
      const [{ PostgresScriptStore }, { postgres, key }] = await Promise.all([import('./scripts.js'), opened()]);
      return new PostgresScriptStore(postgres, key);
    }),
    // It is unknown here whether another host has stored a script.
    scriptSign: { isSet: () => true, set: () => {} },
    undo: once(async () => {
      const [{ PostgresUndoStore }, { postgres, key }] = await Promise.all([import('./undo.js'), opened()]);
      return new PostgresUndoStore(postgres, key);
    }),
    credentials: once(async () => {
      const { PostgresCredentialStore } = await import('./credentials.js');
      return new PostgresCredentialStore((await opened()).postgres);
    }),
    presence: once(async () => {
      const [{ PostgresPresenceStore }, { postgres, key, host }] = await Promise.all([
        import('./presence.js'),
        opened(),
      ]);
      return new PostgresPresenceStore(postgres, key, host);
    }),
    consoleAccess: once(async () => {
      const [{ PostgresConsoleAccess }, { postgres, key, host }] = await Promise.all([
        import('./console-access.js'),
        opened(),
      ]);
      return new PostgresConsoleAccess(postgres, key, host);
    }),
    catalogCache: sharedCatalogCache(values),
    observedTypes: sharedObservedTypes(values),
    results: sharedResults(values),
    accessToken: () => sharedAccessToken(values),
    approverSecret: sharedApproverSecret(values),
    key,
    figures: async () => (await figures()).read(),
    isUp: async () => (await probe()).isUp(),
    close: async () => {
      if (!opened.isCalled()) return;
      const parts = await opened().catch(() => undefined);
      if (parts === undefined) return;
      if (audit.isCalled()) await (await audit()).close();
      await parts.wakes.close();
      // If the database is unreachable, leases expire by themselves.
      if (runs.isCalled()) await (await runs()).close().catch(() => {});
      await parts.host.close().catch(() => {});
      await parts.postgres.close();
    },
  };
}
