import { Approvals } from '../broker/approvals/approvals.js';
import { AuditTrail, type AuditTrailOptions } from '../broker/audit/audit-trail.js';
import { CallerQuotas } from '../domain/quotas.js';
import { SuspendedRuns } from '../host/runs/suspended-runs.js';
import { ScriptLibrary } from '../host/scripts/stored-scripts.js';
import { ApprovalStore } from '../store/approvals.js';
import { hasApproverSecret, isApproverSecret, makeApproverSecret } from '../store/approver-secret.js';
import type { ConsoleAccess } from '../store/console-access.js';
import type { Database } from '../store/database.js';
import type { MasterKey } from '../store/master-key.js';
import type { PresenceStore } from '../store/presence.js';
import { RunStore } from '../store/runs.js';
import { ScriptStore, scriptSign } from '../store/scripts.js';

export interface RecordsOptions {
  readonly stateFolder: string;
  readonly masterKey: MasterKey;
  /** Digest of how a server is reached. */
  readonly fingerprintOf: (serverId: string) => string;
  /** Digest of the servers there are. */
  readonly setting: string;
  readonly formerSetting?: string;
  readonly expireAfterMs: number;
  /** What one caller may have; absent: the defaults. */
  readonly quotas?: CallerQuotas;
  /** What is recorded of calls and decisions; absent where nothing is. */
  readonly audit?: Pick<AuditTrailOptions, 'isRequired' | 'retentionMs'> | undefined;
  /** What was given as the approver's secret. */
  readonly givenSecret?: string | undefined;
}

/** A person's proof where there is no terminal. */
export interface ApproverSecret {
  make(): Promise<string>;
  /** Whether the right one was given; undefined where none was. */
  isGiven(): Promise<boolean | undefined>;
  /** Whether one was ever made here. */
  isMade(): Promise<boolean>;
}

/** What outlives the program. The file is opened, and the driver loaded, when something is first looked for in it. */
export interface Records {
  /** Absent where nothing is recorded. Opened with the first record, and closed with the rest. */
  readonly audit?: AuditTrail;
  readonly approvals: Approvals;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  /** What callers have of what is finite. */
  readonly quotas: CallerQuotas;
  readonly database: () => Promise<Database>;
  /** What hosts of this state folder tell each other. */
  readonly presence: () => Promise<PresenceStore>;
  /** Links and sessions of the console. */
  readonly consoleAccess: () => Promise<ConsoleAccess>;
  /** By which a person decides without a terminal. */
  readonly approverSecret: ApproverSecret;
  /** Under which everything secret is sealed. */
  readonly key: () => Promise<Uint8Array>;
  close(): Promise<void>;
}

export function openRecords({
  stateFolder,
  masterKey,
  fingerprintOf,
  setting,
  formerSetting,
  expireAfterMs,
  quotas = new CallerQuotas(),
  givenSecret,
  audit: recorded,
}: RecordsOptions): Records {
  const key = once(() => masterKey.read());
  const database = once(async () => {
    const { Database } = await import('../store/database.js');
    return Database.open(stateFolder);
  });
  const audit =
    recorded &&
    new AuditTrail({
      ...recorded,
      open: async () => {
        const { AuditStore } = await import('../store/audit.js');
        return AuditStore.open(await database(), await key(), stateFolder);
      },
      warn: (line) => process.stderr.write(`codemode: ${line}\n`),
    });
  const approvals = new Approvals({
    ...(audit === undefined ? {} : { audit }),
    store: once(async () => {
      const store = new ApprovalStore(await database(), await key());
      store.prune(Date.now());
      return store;
    }),
    fingerprintOf,
    expireAfterMs,
    quotas,
  });
  const suspended = new SuspendedRuns({
    store: once(async () => new RunStore(await database(), await key(), quotas)),
    approvals,
    setting,
    ...(formerSetting === undefined ? {} : { formerSetting }),
  });
  const openScripts = once(async () => new ScriptStore(await database(), await key()));
  const scripts = new ScriptLibrary(openScripts, scriptSign(stateFolder));
  return {
    ...(audit === undefined ? {} : { audit }),
    approvals,
    suspended,
    scripts,
    quotas,
    approverSecret: {
      make: () => makeApproverSecret(stateFolder),
      isMade: () => hasApproverSecret(stateFolder),
      isGiven: async () => (givenSecret === undefined ? undefined : isApproverSecret(stateFolder, givenSecret)),
    },
    presence: once(async () => {
      const { PresenceStore } = await import('../store/presence.js');
      return new PresenceStore(await database(), await key());
    }),
    consoleAccess: once(async () => {
      const { ConsoleAccess } = await import('../store/console-access.js');
      return new ConsoleAccess(await database(), await key());
    }),
    database,
    key,
    close: async () => {
      await suspended.close();
      await audit?.close();
      if (database.isCalled())
        await database().then(
          (opened) => opened.close(),
          () => {},
        );
    },
  };
}

/** The first call does it, the others share it. One that failed is tried again. */
function once<Result>(make: () => Promise<Result>): (() => Promise<Result>) & { isCalled(): boolean } {
  let made: Promise<Result> | undefined;
  const call = () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
  return Object.assign(call, { isCalled: () => made !== undefined });
}
