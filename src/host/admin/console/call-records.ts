import type { Approval } from '../../../domain/approval.js';
import { type AuditRecord, CALL_VERDICTS } from '../../../domain/audit.js';
import { groupBy } from '../../../lib/group-by.js';

/**
 * The audit records of a run's calls, one for each call. The log does not number calls. A call that needed approval is found by its
 * approval, the others by program, tool and order.
 */
export class CallRecords {
  readonly #all: readonly AuditRecord[];
  readonly #taken = new Set<AuditRecord>();
  readonly #byCall = new Map<number, AuditRecord>();
  readonly #queues: ReadonlyMap<string, AuditRecord[]>;
  readonly #scripts: ReadonlySet<string>;

  /** `scripts`: digests of the stored scripts that the run executed. */
  constructor(audit: readonly AuditRecord[], approvals: readonly Approval[], scripts: ReadonlySet<string>) {
    this.#scripts = scripts;
    const records = ofCalls(audit);
    const callOf = new Map(approvals.map(({ id, call }) => [id, call]));
    const repeated = new Set<AuditRecord>();
    for (const record of records) {
      const call = record.approval.id === undefined ? undefined : callOf.get(record.approval.id);
      if (call === undefined || call === 0) continue;
      const before = this.#byCall.get(call);
      // Later calls under a grant carry the approval of the call that it was given for.
      if (before !== undefined && before.verdict !== 'pending') continue;
      // A call that waited while its run was suspended is made again when the run is resumed: one call, two records.
      if (before !== undefined) repeated.add(before);
      this.#byCall.set(call, record);
    }
    for (const record of this.#byCall.values()) this.#taken.add(record);
    this.#all = records.filter((record) => !repeated.has(record));
    const free = this.#all.filter((record) => !this.#taken.has(record));
    this.#queues = groupBy(free, ({ serverId, toolName, codeDigest }) => this.#key(serverId, toolName, codeDigest));
  }

  /** The record of the next call to this tool. `codeDigest` is that of the stored script that made the call. */
  take(
    number: number,
    { serverId, toolName }: Pick<AuditRecord, 'serverId' | 'toolName'>,
    codeDigest = '',
  ): AuditRecord | undefined {
    const record = this.#byCall.get(number) ?? this.#queues.get(this.#key(serverId, toolName, codeDigest))?.shift();
    if (record !== undefined) this.#taken.add(record);
    return record;
  }

  /** The records that no call took. */
  left(): readonly AuditRecord[] {
    return this.#all.filter((record) => !this.#taken.has(record));
  }

  #key(serverId: string, toolName: string, codeDigest: string): string {
    return JSON.stringify([serverId, toolName, this.#scripts.has(codeDigest) ? codeDigest : '']);
  }
}

/** One record for each call, oldest first: the outcome if the call has ended. */
function ofCalls(audit: readonly AuditRecord[]): AuditRecord[] {
  const verdicts: readonly string[] = CALL_VERDICTS;
  const found = new Map<string, AuditRecord>();
  for (const record of [...audit].sort((left, right) => left.number - right.number)) {
    if (!verdicts.includes(record.verdict)) continue;
    found.set(record.callId, record);
  }
  return [...found.values()].sort((left, right) => left.atMs - right.atMs || left.number - right.number);
}
