import type { Credentials } from '../broker/credentials/credentials.js';
import type { Redactor } from '../broker/redaction/redactor.js';
import { stateFolder } from '../config/files/state-folder.js';
import type { LoadedConfig } from '../config/load.js';
import { sharedStore } from '../config/shared-store.js';
import { readEnvironment } from '../config/variables/environment.js';
import { sessionBus } from '../config/variables/session-bus.js';
import type { KeyringChoice } from '../domain/key.js';
import { CallerQuotas } from '../domain/quotas.js';
import type { UpstreamTarget } from '../domain/targets/targets.js';
import type { UpstreamDefinition } from '../domain/upstream.js';
import type { AuditLog } from '../host/admin/audit-log.js';
import type { Logins } from '../host/servers/logins.js';
import { once } from '../lib/async/once.js';
import { MasterKey } from '../store/master-key.js';
import { openPostgresStore } from '../store/postgres/store.js';
import { openSqliteStore } from '../store/sqlite/store.js';
import type { Store } from '../store/store.js';
import type { HostSettings } from '../surfaces/cli/composed.js';
import { openRecords, type Records } from './records.js';
import { fingerprint, identityOf, settingOf, withoutSecrets } from './server-identity.js';
import { loadSettings } from './settings.js';

/** The persistent state alone: approvals can be decided and runs inspected on a machine without a jail. */
export async function composeRecords(settings: HostSettings): Promise<Records> {
  return recordsOf(await loadSettings(settings));
}

/** The configured servers by name. Every lookup reads the current content. */
export function definitionsOf({ upstreams }: LoadedConfig): Map<string, UpstreamDefinition> {
  return new Map(upstreams.map((definition) => [definition.id, definition]));
}

export function recordsOf(loaded: LoadedConfig, definitions = definitionsOf(loaded)): Records {
  const environment = readEnvironment();
  const { config } = loaded;
  const quotas = new CallerQuotas(config.quotas);
  const settingBy = (identify: (target: UpstreamTarget) => unknown) =>
    settingOf(
      config.profile,
      [...definitions].map(([id, { target }]) => [id, fingerprint(identify(target))] as const),
    );
  return openRecords({
    store: storeOf(loaded, quotas),
    givenSecret: environment.CODEMODE_APPROVER_SECRET,
    fingerprintOf: (id) => {
      const definition = definitions.get(id);
      return definition === undefined ? '' : fingerprint(identityOf(definition.target));
    },
    setting: settingBy(identityOf),
    formerSetting: settingBy(withoutSecrets),
    expireAfterMs: config.approvals.expireAfter,
    quotas,
    audit: config.audit.enabled
      ? { isRequired: config.audit.required, retentionMs: config.audit.retention }
      : undefined,
  });
}

/** Only the audit log. It is readable even if the configuration is broken: an existing key needs no setting. */
export async function composeAudit(settings: HostSettings): Promise<AuditLog> {
  // The user is not asked to trust a file: the audit log is readable without one.
  const { confirmTrust: _, ...unasked } = settings;
  const loaded = await loadSettings(unasked).catch(() => undefined);
  const store = loaded === undefined ? localStore('auto') : storeOf(loaded);
  const { AuditLog } = await import('../host/admin/audit-log.js');
  return AuditLog.open({ store: await store.audit(), close: () => store.close() });
}

/** Where persistent state is kept: the database that hosts share, or this machine's state folder. */
function storeOf(loaded: LoadedConfig, quotas = new CallerQuotas()): Store {
  const environment = readEnvironment();
  const shared = sharedStore(loaded, environment, process.cwd());
  if (shared === undefined) return localStore(loaded.config.security.keyring, quotas);
  const { key, ...options } = shared;
  return openPostgresStore({ ...options, key: once(key), quotas, stateFolder: stateFolder(environment) });
}

function localStore(choice: KeyringChoice, quotas = new CallerQuotas()): Store {
  const key = once(() => keyOf(choice).read());
  return openSqliteStore({ stateFolder: stateFolder(readEnvironment()), key, quotas });
}

/** Where the key of the state folder is. */
export async function composeKey(settings: HostSettings): Promise<MasterKey> {
  return keyOf((await loadSettings(settings)).config.security.keyring);
}

function keyOf(choice: KeyringChoice): MasterKey {
  const environment = readEnvironment();
  return new MasterKey({
    stateFolder: stateFolder(environment),
    choice,
    keyring: sessionBus(environment, process.getuid?.()),
  });
}

/** Logging in and out of servers: needs neither a jail nor a connection. */
export async function composeLogins(settings: HostSettings): Promise<{ logins: Logins; loaded: LoadedConfig }> {
  const loaded = await loadSettings(settings);
  const [{ Logins }, credentials] = await Promise.all([
    import('../host/servers/logins.js'),
    loadCredentials(recordsOf(loaded)),
  ]);
  return { logins: new Logins(credentials, loaded.upstreams, loaded.disabledServers), loaded };
}

/** The token of the HTTP surface, created if there is none yet. */
export async function readAccessToken(settings: HostSettings): Promise<string> {
  const loaded = await loadSettings(settings).catch(() => undefined);
  // The token of this machine is readable even if the configuration is broken.
  const store = loaded === undefined ? localStore('auto') : storeOf(loaded);
  try {
    return await store.accessToken();
  } finally {
    await store.close();
  }
}

/** The credentials of this state folder. Loaded when the first server is connected, or at login. */
export async function loadCredentials(records: Records, redactor?: Redactor): Promise<Credentials> {
  const { openCredentials } = await import('./credentials.js');
  return openCredentials(records, redactor);
}
