import type { Approval } from '../../../domain/approval.js';
import { type AuditRecord, CALL_VERDICTS, type CallVerdict } from '../../../domain/audit.js';
import type { RunCall } from '../../../domain/console/runs.js';
import type { Label } from '../../../domain/policy.js';
import type { Delivery } from '../../../sandbox/journal.js';
import type { RecordedCall } from '../../recordings/recorded-call.js';

/** What is known of a tool now. */
export interface ToolFacts {
  readonly serverId: string;
  readonly toolName: string;
  readonly exportName?: string;
  readonly isReadOnly?: boolean;
  readonly labels: readonly Label[];
}

export interface CallSources {
  readonly recorded: readonly RecordedCall[];
  readonly audit: readonly AuditRecord[];
  readonly approvals: readonly Approval[];
  readonly deliveries: readonly Delivery[];
  readonly source: string;
  /** By how programs name it: `server/tool`. */
  readonly factsOf: (target: string) => ToolFacts;
  readonly labelsOf: (serverId: string) => readonly Label[];
}

/**
 * The calls of a run: what it asked for comes from its recording, when and with which outcome from the audit log. The two have no
 * number in common. A call that a person was asked about is found by its approval, the others by tool and order.
 */
export function runCalls(sources: CallSources): RunCall[] {
  const { recorded, approvals, deliveries, source, factsOf } = sources;
  const byApproval = new Map(approvals.map((approval) => [approval.id, approval]));
  const records = ofCalls(sources.audit);
  const taken = new Set<AuditRecord>();
  const byCall = new Map<number, AuditRecord>();
  for (const record of records) {
    const call = record.approval.id === undefined ? undefined : byApproval.get(record.approval.id)?.call;
    // Later calls under a grant carry the approval of the call that it was given for.
    if (call === undefined || call === 0 || byCall.has(call)) continue;
    taken.add(record);
    byCall.set(call, record);
  }
  const queues = new Map<string, AuditRecord[]>();
  for (const record of records) {
    if (taken.has(record)) continue;
    const key = `${record.serverId}/${record.toolName}`;
    queues.set(key, [...(queues.get(key) ?? []), record]);
  }
  const answeredAt = new Map(
    deliveries.flatMap((each, index) => ('call' in each ? [[each.call, index] as const] : [])),
  );
  const approvalOf = new Map(approvals.map((approval) => [approval.call, approval]));
  const calls = recorded.map((call): RunCall => {
    const facts = factsOf(call.target);
    const record = byCall.get(call.number) ?? queues.get(`${facts.serverId}/${facts.toolName}`)?.shift();
    if (record !== undefined) taken.add(record);
    const position = answeredAt.get(call.number);
    const line = onlyLineOf(source, facts.exportName);
    return {
      number: call.number,
      ...withFacts(call.target, facts),
      ...(line === undefined ? {} : { line }),
      ...(position === undefined ? {} : { answeredAt: position }),
      ...withRecord(record),
      ...withApproval(approvalOf.get(call.number), record),
    };
  });
  const unnumbered = records.filter((record) => !taken.has(record)).map((record) => fromRecord(record, sources));
  return [...calls, ...unnumbered];
}

function fromRecord(record: AuditRecord, { labelsOf, approvals }: CallSources): RunCall {
  const { serverId, toolName } = record;
  const approval = approvals.find(({ id }) => id === record.approval.id);
  return {
    ...{ serverId, toolName, target: `${serverId}/${toolName}`, isTool: true, labels: labelsOf(serverId) },
    ...withRecord(record),
    ...withApproval(approval, record),
  };
}

function withFacts(target: string, { serverId, toolName, labels, isReadOnly }: ToolFacts) {
  const isTool = !target.startsWith('@') && target.includes('/');
  return { serverId, toolName, target, isTool, labels, ...(isReadOnly === undefined ? {} : { isReadOnly }) };
}

function withRecord(record: AuditRecord | undefined) {
  if (record === undefined) return {};
  const { atMs, durationMs, verdict, resultBytes, redactions } = record;
  return {
    ...{ startedAtMs: atMs, durationMs, verdict: verdict as CallVerdict },
    ...(resultBytes === null ? {} : { resultBytes }),
    ...(Object.keys(redactions).length === 0 ? {} : { redactions }),
  };
}

function withApproval(approval: Approval | undefined, record: AuditRecord | undefined): Pick<RunCall, 'approval'> {
  if (approval !== undefined) {
    const { id, state, createdAtMs: askedAtMs, decision } = approval;
    const decided = decision === undefined ? {} : { decidedAtMs: decision.atMs, by: decision.by };
    return { approval: { id, state, askedAtMs, ...decided } };
  }
  const { id, state, by } = record?.approval ?? {};
  // A grant that was given for another call.
  return id === undefined || state === undefined
    ? {}
    : { approval: { id, state, ...(by === undefined ? {} : { by }) } };
}

/** One for each call, how it ended where it has; the oldest first. */
function ofCalls(audit: readonly AuditRecord[]): AuditRecord[] {
  const verdicts: readonly string[] = CALL_VERDICTS;
  const found = new Map<string, AuditRecord>();
  for (const record of [...audit].sort((left, right) => left.number - right.number)) {
    if (!verdicts.includes(record.verdict)) continue;
    found.set(record.callId, record);
  }
  return [...found.values()].sort((left, right) => left.atMs - right.atMs || left.number - right.number);
}

/** The line that calls it, where the source names it in one line only besides its imports. */
function onlyLineOf(source: string, exportName: string | undefined): number | undefined {
  if (exportName === undefined || !/^[\w$]+$/.test(exportName)) return undefined;
  const call = new RegExp(`(^|[^\\w$])${exportName.replaceAll('$', '\\$')}\\s*\\(`);
  const lines = source.split('\n').flatMap((line, index) => (call.test(line) ? [index + 1] : []));
  return lines.length === 1 ? lines[0] : undefined;
}
