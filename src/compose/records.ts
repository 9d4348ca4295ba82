import { Approvals } from '../broker/approvals/approvals.js';
import { AuditTrail, type AuditTrailOptions } from '../broker/audit/audit-trail.js';
import { CallerQuotas } from '../domain/quotas.js';
import { SuspendedRuns } from '../host/runs/suspended-runs.js';
import { ScriptLibrary } from '../host/scripts/stored-scripts.js';
import { once } from '../lib/async/once.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { ConsoleAccess } from '../store/console-access.js';
import type { PresenceStore } from '../store/presence.js';
import type { Store } from '../store/store.js';

export interface RecordsOptions {
  readonly store: Store;
  /** Digest of how a server is reached, by server id. */
  readonly fingerprintOf: (serverId: string) => string;
  /** Digest of the configured servers. */
  readonly setting: string;
  readonly formerSetting?: string;
  readonly expireAfterMs: number;
  /** Quotas per caller; the defaults if absent. */
  readonly quotas?: CallerQuotas;
  /** Options of the audit log of calls and decisions. Absent if nothing is recorded. */
  readonly audit?: Pick<AuditTrailOptions, 'isRequired' | 'retentionMs'> | undefined;
  /** The approver's secret that was passed to this process. */
  readonly givenSecret?: string | undefined;
}

/** A person's proof of identity if there is no terminal. */
export interface ApproverSecret {
  make(): Promise<string>;
  /** Whether the secret that was passed is right. Undefined if none was passed. */
  isGiven(): Promise<boolean | undefined>;
  /** Whether a secret was ever created here. */
  isMade(): Promise<boolean>;
  /** Whether the text that a person typed is the secret. */
  isRight(typed: string): Promise<boolean>;
}

/** The persistent state. The store is opened, and its driver loaded, at the first access. */
export interface Records {
  readonly store: Store;
  /** Absent if nothing is recorded. Opened with the first record, and closed with the rest. */
  readonly audit?: AuditTrail;
  readonly approvals: Approvals;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  /** What each caller uses of its quotas. */
  readonly quotas: CallerQuotas;
  /** Where hosts of this store exchange their presence. */
  readonly presence: () => Promise<PresenceStore>;
  /** Links and sessions of the console. */
  readonly consoleAccess: () => Promise<ConsoleAccess>;
  /** Lets a person decide without a terminal. */
  readonly approverSecret: ApproverSecret;
  /** The key that seals all stored secrets. */
  readonly key: () => Promise<Uint8Array>;
  close(): Promise<void>;
}

export function openRecords({
  store,
  fingerprintOf,
  setting,
  formerSetting,
  expireAfterMs,
  quotas = new CallerQuotas(),
  givenSecret,
  audit: recorded,
}: RecordsOptions): Records {
  const audit =
    recorded &&
    new AuditTrail({
      ...recorded,
      open: () => store.audit(),
      warn: (line) => process.stderr.write(`codemode: ${line}\n`),
    });
  const approvals = new Approvals({
    ...omitUndefined({ audit }),
    store: once(async () => {
      const opened = await store.approvals();
      await opened.prune(Date.now());
      return opened;
    }),
    fingerprintOf,
    expireAfterMs,
    quotas,
  });
  const suspended = new SuspendedRuns({
    store: () => store.runs(),
    approvals,
    setting,
    ...omitUndefined({ formerSetting }),
  });
  const { make, isMade, isRight } = store.approverSecret;
  return {
    store,
    ...omitUndefined({ audit }),
    approvals,
    suspended,
    scripts: new ScriptLibrary(() => store.scripts(), store.scriptSign, quotas),
    quotas,
    approverSecret: {
      make,
      isMade,
      isRight,
      isGiven: async () => (givenSecret === undefined ? undefined : isRight(givenSecret)),
    },
    presence: () => store.presence(),
    consoleAccess: () => store.consoleAccess(),
    key: () => store.key(),
    close: async () => {
      await suspended.close();
      await audit?.close();
      await store.close();
    },
  };
}
