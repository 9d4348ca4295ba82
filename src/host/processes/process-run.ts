import { hash, randomInt } from 'node:crypto';
import { openRunContext } from '../../broker/run-context.js';
import type { ApprovalState } from '../../domain/approval.js';
import type { CapabilitySet } from '../../domain/capability.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import type { JsonValue } from '../../domain/json.js';
import type { Limits } from '../../domain/limits.js';
import type {
  KeptOutput,
  ProcessLimits,
  ProcessReport,
  ProgramLanguage,
  ResultSource,
} from '../../domain/process-program.js';
import { type CallerId, type Failure, type Outcome, type RunId, withUnfinished } from '../../domain/run.js';
import { duringStep } from '../../domain/step.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import type { TraceContext } from '../../domain/trace.js';
import { deferred } from '../../lib/async/deferred.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import type { CallFailure } from '../calls/call-failure.js';
import type { PartialAnswer } from '../calls/partial-answers.js';
import type { TraceEntry } from '../calls/tool-trace.js';
import type { ProcessRecording } from '../recordings/process-recording.js';
import { ownerOf } from '../runs/ended-run.js';
import { notStarted, programRunner } from '../runs/program-runner.js';
import { redactRunOutcome, redactTitle } from '../runs/redact-report.js';
import { type AwaitServer, RunCatalog } from '../runs/run-catalog.js';
import type { RunClient } from '../runs/run-client.js';
import { stateOf } from '../runs/run-summary.js';
import { RunTrace, type TraceParts } from '../runs/run-trace.js';
import type { OnBegin, Presentation } from '../runs/run-types.js';
import type { Runtime } from '../runtime.js';
import type { ProgramCallsParts } from '../scripts/program-calls.js';
import { connecting } from '../servers/connecting.js';
import type { ToolView } from '../tools/tool-view.js';
import { continuationOf } from './continuation.js';
import { withAdvice } from './process-advice.js';
import { ProcessCalls } from './process-calls.js';
import { ProcessWait } from './process-wait.js';

/** A program for its own process, and the client that waits for it. */
export interface ProcessRunRequest extends RunClient {
  readonly runId: string;
  readonly createdAtMs: number;
  readonly language: ProgramLanguage;
  readonly source: string;
  readonly limits: ProcessLimits;
  readonly maxToolCalls: number;
  /** When the request's token expires. No call starts after that. */
  readonly authorizedUntilMs?: number;
  /** How long a person may take, if one can be asked. */
  readonly approvalWaitMs: number;
  /** Redacts secrets by name in the output and the result, and personal data if configured. */
  readonly redacts?: { readonly personalData: boolean };
  readonly signal?: StopSignal;
  /** The parent span, or the id of a new trace. */
  readonly trace?: TraceContext;
  readonly traceId?: string;
  readonly onBegin?: OnBegin;
  /** Builds the response that is stored for the run. */
  readonly respond: (summary: ProcessRunSummary) => JsonValue;
}

/** How the run ended, redacted. */
export interface ProcessRunSummary {
  readonly runId: string;
  readonly outcome: Outcome;
  readonly resultSource: ResultSource;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly durationMs: number;
  /** The most important approval state among its calls. */
  readonly approvalState: ApprovalState;
  readonly trace: readonly TraceEntry[];
  /** What the program writes for the servers that it called, by path. */
  readonly serverNames: ReadonlyMap<string, string>;
  /** Tool answers that do not match their declared output. */
  readonly warnings: readonly string[];
  readonly misnamed: readonly string[];
  /** Failed calls, by error message. */
  readonly failures: ReadonlyMap<string, CallFailure>;
  /** Paginated answers with a next page that the program did not request. */
  readonly partialAnswers: readonly PartialAnswer[];
  /** The run that it continues, and the number of calls answered from its record. */
  readonly continued?: { readonly runId: string; readonly calls: number };
  /** The number of redactions in answers and in the program's result, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  readonly isolation: IsolationLevel;
  /** Interpreter, worker build and jail: a rerun elsewhere must match all three. */
  readonly image: string;
}

/** An integer that both languages can represent. */
const MAX_SEED = 2 ** 32;
/** Reserved before the client's timeout, to inform the program and to respond. */
const ANSWER_MARGIN_MS = 3_000;

export interface ProcessRunParts extends TraceParts, Omit<ProgramCallsParts, 'sandbox'> {
  readonly runtime: Runtime;
  /** Limits of a stored script that the program runs. */
  readonly scriptLimits: Limits;
  /** Whether people decide approvals through other surfaces when no client can ask them. */
  readonly servesApprovals?: boolean;
}

/** Whose programs are run, and the presentation of their contract. */
export interface ProcessRunner {
  readonly parts: ProcessRunParts;
  readonly caller: CallerId;
  /** The capabilities granted to the caller; absent: whatever the policy allows. */
  readonly bounds: CapabilitySet | undefined;
  readonly profile: string;
  readonly presentation: Presentation;
  /** The tools that the program sees, after the servers that it names were asked. */
  readonly prepare: (source: string) => Promise<ToolView>;
  readonly awaitServer: AwaitServer;
  /** Why a program must not start: its types say that it would surely fail. */
  readonly refusalOf: (request: ProcessRunRequest, view: ToolView) => Promise<Failure | undefined>;
  /** Sends the client news besides the answer. */
  readonly notify: (request: ProcessRunRequest, view: ToolView) => void;
}

/**
 * Runs a program in its own process until it ends: it cannot be suspended. Its calls go through the same pipeline as all calls. A
 * failed program returns a summary; only the host's own failures are thrown.
 */
export async function runProcess(runner: ProcessRunner, request: ProcessRunRequest): Promise<ProcessRunSummary> {
  const { runId, trace: parent, traceId } = request;
  const steps = new RunTrace(runner.parts, { runId, profile: runner.profile, parent, traceId });
  return steps.follow(runSteps(runner, request, steps));
}

async function runSteps(
  runner: ProcessRunner,
  request: ProcessRunRequest,
  steps: RunTrace,
): Promise<ProcessRunSummary> {
  const { parts, caller, bounds, profile, presentation } = runner;
  const { runId, createdAtMs, source, language, limits, maxToolCalls, signal, onStep } = request;
  const startedAt = performance.now();
  const runtime = await parts.runtime.open();
  const { sandbox, broker, audit, redactor } = runtime;
  const programs = await programRunner(language, runtime);
  const codeDigest = hash('sha256', source, 'hex');
  const continuing = continuationOf(parts.suspended, { caller, profile, codeDigest, source, language });
  const preparing = () => steps.prepare(() => runner.prepare(source));
  const view = await duringStep(onStep, connecting(parts.catalog), preparing);
  const seen = new RunCatalog(view.forCode, runner.awaitServer);
  const { snapshot } = seen;
  const run = openRunContext(runId, caller, profile, source, {
    createdAtMs,
    grants: bounds,
    trace: steps.context,
    authorizedUntilMs: request.authorizedUntilMs,
    cannotSuspend: { language },
  });
  const continued = await continuing;
  const refusal = await runner.refusalOf(request, view);
  const scriptLimits = { ...parts.scriptLimits, maxToolCalls };
  const patienceMs = patienceOf(request, parts, startedAt);
  const calls = new ProcessCalls(
    { ...parts, sandbox, scriptLimits, patienceMs },
    {
      run,
      broker,
      maxToolCalls,
      present: (outcome) => presentation.reply(outcome),
      namesOf: (tool) => programs.namesOf(tool, seen.snapshot),
      observe: (tool, value) => parts.observed?.observe(run, tool, presentation.seen?.(value) ?? value),
      client: request,
    },
    seen,
    (target, input) => programs.answerAbout(target, input, seen.snapshot, parts.catalog, view.observedTypeOf),
    continued,
  );
  const people = new ProcessWait(calls, () => patienceOf(request, parts, startedAt), request);
  const files = programs.filesFor(source, snapshot);
  const seed = continued?.seed ?? randomInt(MAX_SEED);
  let report: ProcessReport;
  try {
    const started = deferred<void>();
    const handlers = {
      caller,
      runId: runId as RunId,
      onStarted: () => started.resolve(),
      onCall: (...call: Parameters<ProcessWait['onCall']>) => people.onCall(...call),
      ...omitUndefined({ signal }),
    };
    const running =
      refusal === undefined
        ? programs.run({ source, files, limits, seed }, handlers)
        : Promise.resolve(notStarted(runId as RunId, { status: 'failed', failure: refusal }));
    // A program that ends before it starts, such as one that the compiler refuses, has spent all its time starting.
    const starting = () => steps.start(() => Promise.race([started.promise, running]));
    await duringStep(onStep, programs.starting, starting);
    report = await running;
  } finally {
    people.end();
  }
  const { cpuMs } = report;
  steps.ended(report.outcome, report.durationMs, omitUndefined({ cpuMs }));
  const environment = {
    ...{ build: sandbox.build, node: process.version, isolation: sandbox.jail.level },
    interpreter: programs.version,
  };
  const trace = calls.tools.traceAtEnd();
  const unfinished = calls.tools.unfinished.mayHaveRun();
  const redacted: Record<string, number> = {};
  const ended = await clean(report, request, parts, redacted);
  calls.tools.countRedactions(redacted);
  const summary: ProcessRunSummary = {
    ...ended,
    outcome: withUnfinished(withAdvice(ended.outcome, language, { source, snapshot: seen.snapshot }), unfinished),
    runId,
    approvalState: weightiest(calls.tools.approvalStates),
    trace,
    serverNames: calls.tools.serverNames,
    warnings: [...calls.tools.warnings],
    misnamed: [...calls.tools.misnamed],
    failures: calls.tools.failures,
    partialAnswers: calls.tools.partialAnswers.list(),
    redactions: calls.tools.redactions,
    ...omitUndefined({
      continued: ifDefined(continued, (continued) => ({ runId: continued.runId, calls: continued.answered })),
    }),
    isolation: sandbox.jail.level,
    image: `${language}-${programs.version}+codemode.${sandbox.build}+${sandbox.jail.level}`,
  };
  await audit?.flush();
  await audit?.redacted(run, redacted);
  const owner = ownerOf(run);
  const state = stateOf(report.outcome);
  const recorded = calls.recorded;
  const recording: ProcessRecording | undefined = recorded && {
    ...{ runId, caller, codeDigest: run.codeDigest, environment, outcome: ended.outcome },
    program: { language, source, files: [...files], limits, seed },
    calls: recorded,
    notes: { usage: { cpuMs: report.cpuMs }, scripts: calls.nested.scripts, retries: calls.tools.retries },
  };
  const listed = { title: redactTitle(redactor, source), durationMs: report.durationMs, figures: calls.tools.figures };
  runner.notify(request, view);
  // The response does not wait for this write.
  void parts.suspended.recordEnd(owner, state, request.respond(summary), recording, listed);
  return summary;
}

/** Zero if no person can be asked: a call that needs approval is then refused at once. */
function patienceOf(
  { askPerson, approvalWaitMs, answerWithinMs }: ProcessRunRequest,
  { servesApprovals }: ProcessRunParts,
  startedAt: number,
): number {
  if (askPerson === undefined && servesApprovals !== true) return 0;
  if (answerWithinMs === undefined) return approvalWaitMs;
  const leftMs = answerWithinMs - ANSWER_MARGIN_MS - (performance.now() - startedAt);
  return Math.max(0, Math.min(approvalWaitMs, leftMs));
}

const BY_WEIGHT: readonly ApprovalState[] = ['DENIED', 'EXPIRED', 'PENDING', 'APPROVED'];

function weightiest(states: ReadonlySet<ApprovalState>): ApprovalState {
  return BY_WEIGHT.find((state) => states.has(state)) ?? 'NOT_REQUIRED';
}

/** Redacts what leaves. Everything the program received was redacted, but it may have assembled a secret from pieces. */
async function clean(
  { outcome, stdout, stderr, resultSource, durationMs }: ProcessReport,
  { redacts }: ProcessRunRequest,
  { runtime }: ProcessRunParts,
  counts: Record<string, number>,
) {
  const ended = { resultSource, durationMs };
  const { redactor: known } = await runtime.open();
  const redactor = redacts === undefined ? known : known?.forOutput(redacts);
  if (redactor === undefined) return { ...ended, outcome, stdout, stderr };
  const output = async (kept: KeptOutput): Promise<KeptOutput> => ({
    ...kept,
    text: await redactor.textInSlices(kept.text, counts),
  });
  return {
    ...ended,
    stdout: await output(stdout),
    stderr: await output(stderr),
    outcome: await redactRunOutcome(redactor, outcome, counts),
  };
}
