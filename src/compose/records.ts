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
  /** Whether this, which a person typed, is the secret. */
  isRight(typed: string): Promise<boolean>;
}

/** What outlives the program. The store is opened, and its driver loaded, when something is first looked for in it. */
export interface Records {
  readonly store: Store;
  /** Absent where nothing is recorded. Opened with the first record, and closed with the rest. */
  readonly audit?: AuditTrail;
  readonly approvals: Approvals;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  /** What callers have of what is finite. */
  readonly quotas: CallerQuotas;
  /** What hosts of this store tell each other. */
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
