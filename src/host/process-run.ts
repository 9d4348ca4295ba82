import { randomInt } from 'node:crypto';
import { openRunContext } from '../broker/run-context.js';
import type { Catalog } from '../catalog/catalog.js';
import type { ApprovalState } from '../domain/approval.js';
import type { CapabilitySet } from '../domain/capability.js';
import { type CallerId, type ExecutionId, type Outcome, withUnfinished } from '../domain/execution.js';
import type { IsolationLevel } from '../domain/isolation.js';
import type { JsonValue } from '../domain/json.js';
import type {
  KeptOutput,
  ProcessLimits,
  ProcessReport,
  ProgramLanguage,
  ResultSource,
} from '../domain/process-program.js';
import type { Respondent } from '../domain/question.js';
import { duringStep, type OnStep } from '../domain/step.js';
import type { StopSignal } from '../domain/stop-signal.js';
import type { TraceContext } from '../domain/trace.js';
import { deferred } from '../lib/deferred.js';
import { cleanOutcome, cleanTitle } from './clean-report.js';
import { connecting } from './connecting.js';
import type { AskPerson } from './execution-options.js';
import { PersonWait } from './person-wait.js';
import { ProcessCalls } from './process-calls.js';
import type { ProcessRecording } from './process-recording.js';
import { programRunner } from './program-runner.js';
import type { Presentation } from './run.js';
import { type AwaitServer, RunCatalog } from './run-catalog.js';
import { RunTrace, type TraceParts } from './run-trace.js';
import type { Runtime } from './runtime.js';
import type { SleepingRuns } from './sleeping-runs.js';
import type { TraceEntry } from './tool-trace.js';
import type { ToolView } from './tool-view.js';

/** A program for a process of its own, and who waits for it. */
export interface ProcessRunRequest {
  readonly runId: string;
  readonly language: ProgramLanguage;
  readonly source: string;
  readonly limits: ProcessLimits;
  readonly maxToolCalls: number;
  /** When the token that the request came with expires: no call begins later. */
  readonly authorizedUntilMs?: number;
  /** How long a person who can be asked may take. */
  readonly approvalWaitMs: number;
  /** Redacts secrets by their name in what it prints and returns, and the data of people where that is wanted. */
  readonly redacts?: { readonly personalData: boolean };
  /** The client gives up about then, so it is answered before. */
  readonly answerWithinMs?: number;
  readonly signal?: StopSignal;
  readonly askPerson?: AskPerson;
  readonly respondent?: Respondent;
  readonly onProgress?: (message: string) => void;
  readonly onStep?: OnStep;
  /** Told what the client should know besides the answer. */
  readonly onNotice?: (text: string) => void;
  /** The step of a trace that the run is a part of; or the id of the trace that it begins. */
  readonly trace?: TraceContext;
  readonly traceId?: string;
  /** What is kept of it as its response. */
  readonly respond: (summary: ProcessRunSummary) => JsonValue;
}

/** How it ended, clean. */
export interface ProcessRunSummary {
  readonly runId: string;
  readonly outcome: Outcome;
  readonly resultSource: ResultSource;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly durationMs: number;
  /** The weightiest of its calls. */
  readonly approvalState: ApprovalState;
  readonly trace: readonly TraceEntry[];
  readonly isolation: IsolationLevel;
  /** Interpreter, build of the worker and jail: what a second run elsewhere has to have in common with this one. */
  readonly image: string;
}

/** A whole number that both languages have. */
const MAX_SEED = 2 ** 32;
/** Before the client gives up, to tell the program and to answer. */
const ANSWER_MARGIN_MS = 3_000;

export interface ProcessRunParts extends TraceParts {
  readonly runtime: Runtime;
  readonly catalog: Catalog;
  readonly sleeping: SleepingRuns;
  /** Whether people look at what waits for them here, though no client can ask them. */
  readonly servesApprovals?: boolean;
}

/** On whose behalf programs are run, and in which words. */
export interface ProcessRunner {
  readonly parts: ProcessRunParts;
  readonly caller: CallerId;
  /** What the caller was granted; absent: whatever the policy lets it do. */
  readonly bounds: CapabilitySet | undefined;
  readonly profile: string;
  readonly presentation: Presentation;
  /** Which tools the program sees, once the servers that it names have been asked. */
  readonly prepare: (source: string) => Promise<ToolView>;
  readonly awaitServer: AwaitServer;
  /** Says what the client should know besides the answer. */
  readonly notify: (request: ProcessRunRequest, view: ToolView) => void;
}

/**
 * Runs a program in a process of its own, to its end: it cannot be put away. Its calls go the way of all calls. A program
 * that fails is a summary; only the host's own failures are thrown.
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
  const { runId, source, language, limits, maxToolCalls, signal, onProgress, onStep, respondent } = request;
  const startedAt = performance.now();
  const runtime = await parts.runtime.open();
  const { sandbox, broker, audit, redactor } = runtime;
  const programs = await programRunner(language, runtime);
  const preparing = () => steps.prepare(() => runner.prepare(source));
  const view = await duringStep(onStep, connecting(parts.catalog), preparing);
  const seen = new RunCatalog(view.forCode, runner.awaitServer);
  const { snapshot } = seen;
  const run = openRunContext(runId, caller, profile, source, {
    grants: bounds,
    trace: steps.context,
    authorizedUntilMs: request.authorizedUntilMs,
  });
  const calls = new ProcessCalls(
    {
      run,
      broker,
      maxToolCalls,
      present: (outcome) => presentation.reply(outcome),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(respondent === undefined ? {} : { respondent }),
    },
    seen,
    parts.catalog,
    (target, input) => programs.answerAbout(target, input, seen.snapshot, parts.catalog),
  );
  const people = new PersonWait({
    patienceMs: () => patienceOf(request, parts, startedAt),
    askPerson: request.askPerson,
  });
  const files = programs.filesFor(source, snapshot);
  const seed = randomInt(MAX_SEED);
  let report: ProcessReport;
  try {
    const started = deferred<void>();
    const running = programs.run(
      { source, files, limits, seed },
      {
        caller,
        execution: runId as ExecutionId,
        onStarted: () => started.resolve(),
        onCall: (call, over, time) => people.answer(call, over, time, (hooks) => calls.answer(call, hooks)),
        ...(signal === undefined ? {} : { signal }),
      },
    );
    // What is over before it has started, as a program that the compiler refuses, has taken all its time to start.
    const starting = () => steps.start(() => Promise.race([started.promise, running]));
    await duringStep(onStep, programs.starting, starting);
    report = await running;
  } finally {
    people.end();
  }
  const { cpuMs } = report;
  steps.ended(report.outcome, report.durationMs, cpuMs === undefined ? {} : { cpuMs });
  const environment = {
    ...{ build: sandbox.build, node: process.version, isolation: sandbox.jail.level },
    interpreter: programs.version,
  };
  const trace = calls.tools.traceAtEnd();
  const unfinished = calls.tools.unfinished.mayHaveRun();
  const redacted: Record<string, number> = {};
  const ended = await clean(report, request, parts, redacted);
  const summary: ProcessRunSummary = {
    ...ended,
    outcome: withUnfinished(ended.outcome, unfinished),
    runId,
    approvalState: weightiest(calls.tools.approvalStates),
    trace,
    isolation: sandbox.jail.level,
    image: `${language}-${programs.version}+codemode.${sandbox.build}+${sandbox.jail.level}`,
  };
  audit?.flush();
  await audit?.redacted(run, redacted);
  const owner = { id: runId, caller, profile, codeDigest: run.codeDigest };
  const state = report.outcome.status === 'completed' ? 'finished' : 'failed';
  const { recorded } = calls;
  const recording: ProcessRecording | undefined = recorded && {
    ...{ runId, caller, codeDigest: run.codeDigest, environment, outcome: ended.outcome },
    program: { language, source, files: [...files], limits, seed },
    calls: recorded,
  };
  const glance = { title: cleanTitle(redactor, source), durationMs: report.durationMs };
  runner.notify(request, view);
  // What a tool answered against its own schema, where that is no error.
  for (const warning of calls.tools.warnings) request.onNotice?.(warning);
  // The answer does not wait for it.
  void parts.sleeping.recordEnd(owner, state, request.respond(summary), recording, glance);
  return summary;
}

/** Zero where nobody can be asked: then a call that needs a person is refused at once. */
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

/** What leaves: the program has got nothing but what it may have, but it may have put together what came in pieces. */
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
    outcome: await cleanOutcome(redactor, outcome, counts),
  };
}
