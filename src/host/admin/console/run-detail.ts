import type { Redactor } from '../../../broker/redaction/redactor.js';
import type { AuditRecord } from '../../../domain/audit.js';
import type { RunCall, RunDetail } from '../../../domain/console/runs.js';
import type { JsonValue } from '../../../domain/json.js';
import type { Label } from '../../../domain/policy.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import type { RunNotes } from '../../recordings/run-notes.js';
import type { RunView } from '../../runs/run-view.js';
import { approvalView } from './approval-cards.js';
import { cutValue } from './cut-value.js';
import type { RecordedFacts } from './recorded-run.js';
import { runCalls, type ToolFacts } from './run-calls-view.js';
import { logsIn, storedItem } from './run-items.js';

const MAX_CALLS = 5_000;
const MAX_APPROVALS = 1_000;
const ANSWER_CHARACTERS = 512 * 1024;

export interface RunDetailParts {
  readonly redactor: Redactor;
  /** Keyed by the name that programs use. */
  readonly toolFacts: (target: string) => ToolFacts;
  readonly labelsOf: (serverId: string) => readonly Label[];
}

interface KnownRun {
  readonly view: RunView;
  /** From its recording, or from the stored context of a suspended run. */
  readonly facts: Partial<RecordedFacts> | undefined;
  /** Why the recording is missing. */
  readonly recordingNote: string | undefined;
  readonly audit: readonly AuditRecord[];
}

/** One run for its screen, redacted and bounded. */
export function runDetail(
  { view, facts, recordingNote, audit }: KnownRun,
  { toolFacts, labelsOf, redactor }: RunDetailParts,
): RunDetail {
  const { program, engine, limits, outcome, notes = {}, calls: recorded = [], deliveries = [] } = facts ?? {};
  const source = program?.source ?? '';
  const calls = runCalls({
    ...{ recorded, notes, audit, approvals: view.approvals, deliveries, source },
    ...{ factsOf: toolFacts, labelsOf },
  });
  const answer = cutValue(JSON.stringify(view.response) ?? 'null', ANSWER_CHARACTERS);
  return {
    ...storedItem(view),
    ...omitUndefined({
      program: ifDefined(program, (program) => ({ ...program, source: redactor.text(program.source) })),
      recordingNote,
      engine,
      limits,
    }),
    usage: usageOf(calls, notes),
    calls: calls.slice(0, MAX_CALLS),
    callCount: calls.length,
    logs: logsIn(view.response),
    ...omitUndefined({
      outcome: ifDefined(
        outcome,
        (outcome) => redactor.bulk(outcome as unknown as JsonValue) as unknown as typeof outcome,
      ),
    }),
    answer: answer.value,
    isAnswerCut: answer.isCut,
    deliveryCount: deliveries.length,
    approvals: view.approvals.slice(0, MAX_APPROVALS).map((approval) => approvalView(approval)),
  };
}

function usageOf(calls: readonly RunCall[], { usage = {} }: RunNotes): NonNullable<RunDetail['usage']> {
  const { cpuMs, memoryBytes } = usage;
  return { calls: calls.filter(({ isTool }) => isTool).length, ...omitUndefined({ cpuMs, memoryBytes }) };
}
