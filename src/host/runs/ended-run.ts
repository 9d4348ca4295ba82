import type { Redactor } from '../../broker/redaction/redactor.js';
import type { RunContext } from '../../broker/run-context.js';
import type { Catalog } from '../../catalog/catalog.js';
import { needsOf } from '../../domain/profile-name.js';
import { type Outcome, withUnfinished } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { engineOf } from '../../sandbox/journal/journal.js';
import type { RunReport } from '../../sandbox/run-report.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { textToolsOf, withSearchHint, withTextHint } from '../calls/json-text-hint.js';
import { type CalleeContext, withCalleeNamed } from '../calls/missing-function.js';
import { withMissingMembers } from '../calls/missing-members.js';
import { withForgottenImport } from '../calls/missing-name.js';
import type { RunCalls } from '../calls/run-calls.js';
import type { TypeCheckGate } from '../check/type-check-gate.js';
import type { Recording } from '../recordings/recording.js';
import type { SessionOptions } from '../session-parts.js';
import type { ToolView } from '../tools/tool-view.js';
import type { KeptResults } from './kept-results.js';
import type { RunOwner } from './resumed-run.js';
import type { RunEnd } from './run.js';
import { handOver, isSilent, logKeeper } from './run-summary.js';
import type { RunTrace } from './run-trace.js';
import type { RunAnswer, RunFacts, RunSummary } from './run-types.js';

/** A run in progress and the outcomes of its calls. */
export interface PreparedRun {
  readonly owner: RunOwner;
  readonly facts: RunFacts;
  readonly view: ToolView;
  readonly calls: RunCalls;
  readonly steps: RunTrace;
  readonly redactor: Redactor | undefined;
  readonly onNotice: ((text: string) => void) | undefined;
  /** The type check; absent if types are not checked. */
  readonly verdict?: TypeCheckGate | undefined;
}

export function ownerOf({ runId, createdAtMs, caller, profile, codeDigest }: RunContext): RunOwner {
  return { id: runId, createdAtMs, caller, profile, codeDigest };
}

/** The answer of a run that is suspended until a person has decided. */
export function suspendedAnswer(run: PreparedRun, end: Extract<RunEnd, { state: 'suspended' }>): RunAnswer {
  const { owner, redactor, facts, calls } = run;
  const { trace, sentCount: callCount } = calls.tools;
  run.steps.suspended();
  const seen = { approvals: end.approvals, logs: end.logs };
  const { approvals, logs } = redactor?.bulk(seen) ?? seen;
  const summary = { runId: owner.id, approvals, logs, trace, callCount, ...end.used };
  return { state: 'suspended', summary: facts.label === undefined ? summary : { ...summary, label: facts.label } };
}

/**
 * The outcome with details that only the host knows: names of missing functions, kinds of answers, calls that may have taken
 * effect.
 */
export function explainedOutcome(
  { view, calls, owner }: PreparedRun,
  report: RunReport,
  session: CalleeContext & { readonly catalog: Pick<Catalog, 'search'> },
): Outcome {
  const { source } = report.journal;
  const named = withCalleeNamed(report.outcome, source, view.forCode, session);
  const imported = withForgottenImport(named, view.forCode, session);
  const complete = withMissingMembers(imported, source, view.forCode, session);
  const { program } = needsOf(owner.profile);
  const texts = () => textToolsOf(calls.tools.trace, calls.tools.jsonTexts, view);
  const hinted = withSearchHint(withTextHint(complete, source, texts, program), source);
  return withUnfinished(hinted, calls.tools.unfinished.mayHaveRun());
}

interface SummaryContext {
  readonly results: KeptResults;
  readonly sandbox: Sandbox;
  readonly options: SessionOptions;
}

/** Everything that the answer of an ended run needs, except news of servers. */
export function endedSummary(
  { facts, calls: { tools } }: PreparedRun,
  report: RunReport,
  outcome: Outcome,
  { results, sandbox, options }: SummaryContext,
): Omit<RunSummary, 'unavailable' | 'declarations' | 'notice'> {
  const { presentation, maxResultBytes, profile } = options;
  const { context, limits, label } = facts;
  const { logs, logsCut, durationMs, usage, journal } = report;
  const hasOnlyRead = tools.sentCount > 0 && tools.isRepeatable;
  const keep = { results, owner: context, received: context.ledger.received };
  return {
    runId: context.runId,
    ...omitUndefined({ label }),
    ...handOver(outcome, presentation, maxResultBytes, keep),
    ...logKeeper(logs, maxResultBytes, keep),
    logs,
    logsCut,
    trace: tools.traceAtEnd(),
    serverNames: tools.serverNames,
    unfinished: tools.unfinished.mayHaveRun(),
    durationMs,
    usage,
    engine: engineOf(journal),
    callCount: tools.sentCount,
    isRepeatable: tools.isRepeatable,
    failures: tools.failures,
    limits,
    isolation: sandbox.jail.level,
    warnings: [...tools.warnings],
    misnamed: [...tools.misnamed],
    failedRuns: [...tools.failedRuns],
    ...(isSilent(outcome, logs, journal.source, { profile, hasOnlyRead }) ? { isSilent: true } : {}),
    partialAnswers: tools.partialAnswers.list(),
    redactions: tools.redactions,
  };
}

/** What `codemode replay` needs to run it again. */
export function recordingOf({ facts, calls }: PreparedRun, report: RunReport, sandbox: Sandbox): Recording {
  const { runId, caller, codeDigest } = facts.context;
  return {
    ...{ runId, caller, codeDigest },
    environment: { build: sandbox.build, node: process.version, isolation: sandbox.jail.level },
    journal: report.journal,
    calls: calls.recorded,
    outcome: report.outcome,
    notes: { usage: report.usage, ...calls.notes },
  };
}
