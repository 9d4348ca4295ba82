import type { Approval } from '../../../domain/approval.js';
import type { AuditRecord, CallVerdict } from '../../../domain/audit.js';
import type { RunCall } from '../../../domain/console/runs.js';
import type { Label } from '../../../domain/policy.js';
import { groupBy } from '../../../lib/group-by.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { Delivery } from '../../../sandbox/journal/journal.js';
import type { RecordedCall } from '../../recordings/recorded-call.js';
import type { CallRetry, NestedScript, RunNotes } from '../../recordings/run-notes.js';
import { CallRecords } from './call-records.js';

/** What is currently known about a tool. */
export interface ToolFacts {
  readonly serverId: string;
  readonly toolName: string;
  readonly exportName?: string;
  readonly isReadOnly?: boolean;
  readonly labels: readonly Label[];
}

export interface CallSources {
  readonly recorded: readonly RecordedCall[];
  readonly notes: RunNotes;
  readonly audit: readonly AuditRecord[];
  readonly approvals: readonly Approval[];
  readonly deliveries: readonly Delivery[];
  readonly source: string;
  /** Keyed by the name that programs use: `server/tool`. */
  readonly factsOf: (target: string) => ToolFacts;
  readonly labelsOf: (serverId: string) => readonly Label[];
}

/**
 * The calls of a run, each followed by the calls of the stored script that it ran. The recording has what a program asked for. The
 * audit log has the time and the outcome.
 */
export function runCalls(sources: CallSources): RunCall[] {
  const { recorded, notes, approvals, deliveries } = sources;
  const scripts = groupBy(notes.scripts ?? [], ({ byCall }) => byCall);
  const retries = groupBy(notes.retries ?? [], ({ call }) => call);
  const known: Known = {
    ...{ sources, scripts, retries },
    records: new CallRecords(sources.audit, approvals, new Set(notes.scripts?.map(({ codeDigest }) => codeDigest))),
    answeredAt: new Map(deliveries.flatMap((each, index) => ('call' in each ? [[each.call, index] as const] : []))),
    approvalOf: new Map(approvals.map((approval) => [approval.call, approval])),
  };
  const calls = recorded.flatMap((call) => withScripts(call, known, { depth: 0 }));
  const unnumbered = known.records.left().map((record) => fromRecord(record, sources));
  return [...calls, ...unnumbered];
}

interface Known {
  readonly sources: CallSources;
  readonly scripts: ReadonlyMap<number, readonly NestedScript[]>;
  readonly retries: ReadonlyMap<number, readonly CallRetry[]>;
  readonly records: CallRecords;
  readonly answeredAt: ReadonlyMap<number, number>;
  readonly approvalOf: ReadonlyMap<number, Approval>;
}

/** The position of a call in the tree of scripts. */
interface Place {
  readonly depth: number;
  readonly parent?: number;
  readonly codeDigest?: string;
}

function withScripts(call: RecordedCall, known: Known, place: Place): RunCall[] {
  const nested = known.scripts.get(call.number) ?? [];
  const [script] = nested;
  const own = oneCall(call, known, place);
  const run: RunCall =
    script === undefined
      ? own
      : {
          ...own,
          ...{ script: script.name, startedAtMs: script.startedAtMs },
          ...omitUndefined({ durationMs: script.durationMs }),
          ...(script.durationMs === undefined ? { verdict: 'sent' as const } : {}),
          ...(script.isFailed === true ? { verdict: 'failed' as const } : {}),
        };
  const below = nested.flatMap(({ calls, codeDigest }) =>
    calls.flatMap((each) => withScripts(each, known, { depth: place.depth + 1, parent: call.number, codeDigest })),
  );
  return [run, ...below];
}

function oneCall({ number, target }: RecordedCall, known: Known, { depth, parent, codeDigest }: Place): RunCall {
  const facts = known.sources.factsOf(target);
  const approval = known.approvalOf.get(number);
  const record = known.records.take(number, facts, codeDigest);
  const position = known.answeredAt.get(number);
  // A line number of a stored script is not a line number of the program.
  const line = depth === 0 ? onlyLineOf(known.sources.source, facts.exportName ?? ownFunction(target)) : undefined;
  const retries = known.retries.get(number)?.map(({ atMs, failure }) => ({ atMs, failure }));
  return {
    ...{ number, ...withFacts(target, facts) },
    ...omitUndefined({ line, answeredAt: position }),
    ...(depth === 0 ? {} : { depth }),
    ...omitUndefined({ parent, retries }),
    ...withRecord(record, approval),
    ...withApproval(approval, record),
  };
}

function fromRecord(record: AuditRecord, { labelsOf, approvals }: CallSources): RunCall {
  const { serverId, toolName } = record;
  const approval = approvals.find(({ id }) => id === record.approval.id);
  return {
    ...{ serverId, toolName, target: `${serverId}/${toolName}`, isTool: true, labels: labelsOf(serverId) },
    ...withRecord(record, approval),
    ...withApproval(approval, record),
  };
}

function withFacts(target: string, { serverId, toolName, labels, isReadOnly }: ToolFacts) {
  const isTool = !target.startsWith('@') && target.includes('/');
  return { serverId, toolName, target, isTool, labels, ...omitUndefined({ isReadOnly }) };
}

/** Time spent waiting only for a person does not count towards the call's duration. */
function withRecord(record: AuditRecord | undefined, approval: Approval | undefined): Partial<RunCall> {
  if (record === undefined) return approval?.state === 'PENDING' ? { isWaiting: true } : {};
  const { atMs, durationMs, resultBytes, redactions } = record;
  const verdict = record.verdict as CallVerdict;
  if (verdict === 'pending') return approval?.state === 'PENDING' ? { isWaiting: true } : { verdict };
  const wait = approval?.decision === undefined ? 0 : Math.max(0, approval.decision.atMs - atMs);
  const waited = Math.min(wait, durationMs);
  return {
    ...{ startedAtMs: atMs + waited, durationMs: durationMs - waited, verdict },
    ...(resultBytes === null ? {} : { resultBytes }),
    ...(Object.keys(redactions).length === 0 ? {} : { redactions }),
  };
}

function withApproval(approval: Approval | undefined, record: AuditRecord | undefined): Pick<RunCall, 'approval'> {
  if (approval !== undefined) {
    const { id, state, createdAtMs: askedAtMs, decision } = approval;
    const decided = omitUndefined({ decidedAtMs: decision?.atMs, by: decision?.by });
    return { approval: { id, state, askedAtMs, ...decided } };
  }
  const { id, state, by } = record?.approval ?? {};
  // The grant was given for another call.
  return id === undefined || state === undefined ? {} : { approval: { id, state, ...omitUndefined({ by }) } };
}

/** The name of one of codemode's own functions: `@scripts/runScript`. */
function ownFunction(target: string): string | undefined {
  return /^@\w+\/([\w$]+)$/.exec(target)?.[1];
}

/** The line that calls the function, if the source names it on exactly one line besides its imports. */
function onlyLineOf(source: string, exportName: string | undefined): number | undefined {
  if (exportName === undefined || !/^[\w$]+$/.test(exportName)) return undefined;
  const call = new RegExp(`(^|[^\\w$])${exportName.replaceAll('$', '\\$')}\\s*\\(`);
  const lines = source.split('\n').flatMap((line, index) => (call.test(line) ? [index + 1] : []));
  return lines.length === 1 ? lines[0] : undefined;
}
