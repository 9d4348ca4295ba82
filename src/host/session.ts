import { randomUUID } from 'node:crypto';
import type { BrokerOutcome } from '../broker/broker.js';
import { ReceivedData } from '../broker/policy/flow.js';
import type { Redactor } from '../broker/redaction/redactor.js';
import { openRunContext, type RunContext } from '../broker/run-context.js';
import type { WaitProgress } from '../catalog/catalog.js';
import type { CatalogServer, CatalogSnapshot } from '../catalog/snapshot.js';
import type { CapabilitySet } from '../domain/capability.js';
import { HostError } from '../domain/errors.js';
import { type CallerId, type ExecutionId, type Outcome, withUnfinished } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import { PROCESS_LANGUAGES } from '../domain/process-program.js';
import type { ScriptHead } from '../domain/script.js';
import { duringStep } from '../domain/step.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { cleanLog, cleanReport, cleanTitle } from './clean-report.js';
import { connecting } from './connecting.js';
import { callDirect, type DirectCircumstances } from './direct-call.js';
import { findServer } from './discovery.js';
import { type AskPerson, Execution, type ExecutionEnd, type ExecutionOptions } from './execution.js';
import { withCalleeNamed } from './missing-function.js';
import { prepareServers } from './preparation.js';
import { type ProcessRunRequest, type ProcessRunSummary, runProcess } from './process-run.js';
import { programForm } from './program-form.js';
import { reviveContext } from './recall.js';
import type { AskingWays, RunAnswer, RunFacts, RunRequest, RunSummary } from './run.js';
import { RunCalls, type RunCallsSoFar } from './run-calls.js';
import { RunCatalog } from './run-catalog.js';
import { RunTrace } from './run-trace.js';
import { ServerNews } from './server-news.js';
import type { SessionOptions, SessionParts } from './session-parts.js';
import type { RunOwner, WokenRun } from './sleeping-runs.js';
import { handOver, logKeeper, missingServers, stateOf } from './summary.js';
import type { CatalogContext } from './tool-catalog.js';
import { serversUsed } from './tool-trace.js';
import { type DirectTool, type ToolView, toolPolicyOf, viewOf } from './tool-view.js';

export type { BrokerOutcome, DirectCircumstances, SessionOptions, SessionParts };

/** A person who was asked through the client may take this long, unless the client gives up before. */
const ASKED_PATIENCE_MS = 5 * 60_000;
/** Before the client gives up: to put the program away, and to answer. */
const ANSWER_MARGIN_MS = 2_000;
/** Where the person is asked with the answer: for calls that a program makes together, so that they are one card. */
const GATHER_CALLS_MS = 40;

/** A run under way: what is known of it, and what has become of its calls. */
interface Run {
  readonly owner: RunOwner;
  readonly facts: RunFacts;
  readonly view: ToolView;
  readonly calls: RunCalls;
  readonly steps: RunTrace;
  readonly redactor: Redactor | undefined;
  readonly onNotice: ((text: string) => void) | undefined;
}

/** The program, where it starts anew, and who waits for it. */
type Preparation = Partial<
  Pick<
    RunRequest,
    'source' | 'script' | 'onProgress' | 'onStep' | 'onNotice' | 'askPerson' | 'answerWithinMs' | 'respondent'
  >
>;

/** What is written down of a run that sleeps, besides its program. */
interface SleepContext extends RunCallsSoFar {
  readonly facts: RunFacts;
}

/** One caller's view: which tools there are, and running programs against them. */
export class Session {
  readonly caller: CallerId;
  /** No call of this session goes beyond them, whatever its contract. */
  readonly bounds: CapabilitySet | undefined;
  readonly #parts: SessionParts;
  readonly #options: SessionOptions;
  readonly #told: ServerNews;
  /** What the client has got by calling tools itself: between two of its calls the data is in the same hands. */
  readonly #received = new ReceivedData();
  #view: { readonly of: CatalogSnapshot; readonly view: ToolView } | undefined;

  constructor(parts: SessionParts, options: SessionOptions) {
    this.caller = options.caller;
    this.bounds = options.bounds;
    this.#parts = parts;
    this.#options = options;
    this.#told = new ServerNews({ catalog: parts.catalog, declarations: options.declarations });
  }

  /** What exists now, split into what programs and what the client itself may call. */
  tools(): ToolView {
    return this.#viewOf(this.#parts.catalog.snapshot());
  }

  /** What questions about these tools are answered from, with the names of every real interpreter. */
  catalogContext(): CatalogContext {
    return { snapshot: this.tools().forCode, catalog: this.#parts.catalog, languages: PROCESS_LANGUAGES };
  }

  /** The stored scripts that programs of this caller may run. */
  scripts(): ScriptHead[] {
    return this.#parts.scripts.known(this.#options.profile);
  }

  /** The client of this session has been given its instructions, made of this view. */
  instructed(view: ToolView): void {
    this.#told.instructed(view);
  }

  /** The client of this session has been given its list of tools, made of this view. */
  listed(view: ToolView): void {
    this.#told.listed(view);
  }

  /**
   * Waits for servers that are starting, until each has had `withinMs` since it was asked. Says which are still waited for.
   */
  async settled(withinMs: number, onProgress?: WaitProgress): Promise<ToolView> {
    return this.#viewOf(await this.#parts.catalog.settle(withinMs, onProgress === undefined ? {} : { onProgress }));
  }

  onToolsChanged(listener: () => void): () => void {
    return this.#parts.catalog.onChange(listener);
  }

  /** Waits until servers that were never asked have answered, or are known not to: these, or all. */
  async ready(...names: readonly string[]): Promise<ToolView> {
    const { catalog } = this.#parts;
    if (names.length === 0) return this.#viewOf(await catalog.prepareAll());
    const paths = names.flatMap((name) => findServer(name, catalog.snapshot())?.path ?? []);
    return this.#viewOf(await catalog.prepare(paths));
  }

  /** Runs a program. A program that fails is an answer; only the host's own failures and `quota_exceeded` are thrown. */
  async run(request: RunRequest): Promise<RunAnswer> {
    const runId = randomUUID();
    const { profile } = this.#options;
    const steps = new RunTrace(this.#parts, { runId, profile, parent: request.trace });
    const context = openRunContext(runId, this.caller, profile, request.source, {
      sessionId: this.#options.sessionId,
      grants: request.grants ?? this.bounds,
      trace: steps.context,
      authorizedUntilMs: request.authorizedUntilMs,
      // The contract of scripts knows one time, and its calls may take all of it.
      callTimeoutMs: request.script === undefined ? undefined : request.limits.timeoutMs,
    });
    request.onBegin?.(runId);
    const answered = steps.follow(this.#parts.live.during(() => this.#execute(context, request, steps), this.caller));
    // What a script gives back has no other way to its client than this answer.
    if (request.answerWithinMs === undefined || request.script !== undefined) return answered;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), request.answerWithinMs);
    });
    const first = await Promise.race([answered, late]).finally(() => clearTimeout(timer));
    if (first !== 'late') return first;
    const ended = answered.then(
      (answer) => ({ response: this.#present(answer), isSuspended: answer.state === 'asleep' }),
      (error: unknown) => {
        const response = { error: error instanceof Error ? error.message : 'the run failed' };
        return { response, isSuspended: false };
      },
    );
    this.#parts.results.keepRun(context, { runId, ended, received: context.ledger.received });
    return { state: 'running', runId };
  }

  /** Goes on with a run of this caller that slept, until it ends or sleeps again. */
  wake(woken: WokenRun, asking: AskingWays = {}): Promise<void> {
    return this.#parts.live.during(() => this.#wake(woken, asking));
  }

  async #wake(woken: WokenRun, asking: AskingWays): Promise<void> {
    const { runtime, catalog, gate } = this.#parts;
    const { sandbox } = await runtime.open();
    const { facts, ...before } = woken.context as unknown as SleepContext;
    const { trace: parent, ...known } = reviveContext(facts.context, woken.sleeper, catalog.snapshot(), gate);
    const { runId, profile } = known;
    const steps = new RunTrace(this.#parts, { runId, profile, parent, isWoken: true });
    const context = steps.context === undefined ? known : { ...known, trace: steps.context };
    const goOn = async (): Promise<RunAnswer> => {
      const run = await this.#prepare({ ...facts, context }, asking, steps, before);
      const options = this.#executionOptions(run, { signal: woken.signal, ...asking });
      const wake = () => Execution.wake(sandbox, woken.sleeper, options);
      const execution = await steps.start(wake);
      return this.#conclude(run, await execution.ended, sandbox);
    };
    await steps.follow(goOn());
    await this.#parts.sleeping.settled();
  }

  /** Runs a program on a real interpreter, to its end. */
  async runProcess(request: ProcessRunRequest): Promise<ProcessRunSummary> {
    const { profile, presentation } = this.#options;
    const prepare = (source: string) => this.#viewFor(source, []);
    const awaitServer = (server: CatalogServer) => this.#awaitServer(server);
    const notify = ({ source, onNotice }: ProcessRunRequest, view: ToolView) => this.#notify(source, view, onNotice);
    const { caller, bounds } = this;
    const runner = { parts: this.#parts, caller, bounds, profile, presentation, prepare, awaitServer, notify };
    const summary = await runProcess(runner, request);
    this.#parts.observed?.noteUse(caller, serversUsed(summary.trace));
    return summary;
  }

  /** A tool called by the client itself, through the same pipeline as calls from code. */
  async callDirect(
    direct: Pick<DirectTool, 'tool'>,
    input: JsonValue,
    circumstances: DirectCircumstances,
  ): Promise<BrokerOutcome> {
    const { broker } = await this.#parts.runtime.open();
    const { caller, bounds } = this;
    const { profile } = this.#options;
    const patienceMs = this.#patience(circumstances.askPerson);
    const own = { broker, caller, profile, bounds, received: this.#received, patienceMs };
    return callDirect(own, direct, input, circumstances);
  }

  /** The caller, or this session of it, will not come back: nothing is kept for it any more. */
  close(): void {
    this.#parts.results.forget(this.#options);
  }

  async #execute(context: RunContext, request: RunRequest, steps: RunTrace): Promise<RunAnswer> {
    const { sandbox } = await this.#parts.runtime.open();
    const { source, language, limits } = request;
    const { requestedServers = [] } = request;
    const label = request.label === undefined ? {} : { label: request.label };
    const run = await this.#prepare({ context, limits, requestedServers, ...label }, request, steps);
    const program = { source, language, limits, ...programForm(request, run.view) };
    const options = this.#executionOptions(run, request);
    const execution = await steps.start(() => Execution.start(sandbox, program, context.runId as ExecutionId, options));
    return this.#conclude(run, await execution.ended, sandbox);
  }

  /** Connects what the program is about to use, and stands ready to answer its calls. */
  async #prepare(facts: RunFacts, waiting: Preparation, steps: RunTrace, before?: RunCallsSoFar): Promise<Run> {
    const { runtime, catalog } = this.#parts;
    const { source = '', script, onProgress, onStep, onNotice, askPerson, answerWithinMs, respondent } = waiting;
    const { sandbox, broker, redactor } = await runtime.open();
    const preparing = () => steps.prepare(() => this.#viewFor(source, facts.requestedServers));
    const view = await duringStep(onStep, connecting(catalog), preparing);
    const seen = new RunCatalog(view.forCode, (server) => this.#awaitServer(server));
    const { presentation } = this.#options;
    const patienceMs = this.#patience(askPerson, answerWithinMs);
    const asked = { patienceMs, askPerson, onProgress, respondent };
    const circumstances = { facts, seen, presentation, script, ...asked };
    const calls = new RunCalls({ sandbox, broker, ...this.#parts }, circumstances, before);
    return { owner: ownerOf(facts.context), facts, view, calls, steps, redactor, onNotice };
  }

  /** What a program sees, once the servers that it names have answered or have had their time. */
  async #viewFor(source: string, requested: readonly string[]): Promise<ToolView> {
    const { profile } = this.#options;
    const snapshot = this.tools().forCode;
    return this.#viewOf(await prepareServers(this.#parts, { source, profile, requested, snapshot }));
  }

  /** A server that was still starting when a run began, as this caller sees it when it has answered. */
  async #awaitServer({ path, id }: CatalogServer): Promise<CatalogServer | undefined> {
    await this.#parts.catalog.prepare([path]);
    return this.tools().forCode.servers.find((server) => server.id === id);
  }

  /** What the answer says of servers beside the result; to `onNotice` where the contract's answers have no place for it. */
  #news({ view, facts, onNotice }: Run, source: string, outcome: Outcome): Pick<RunSummary, 'declarations' | 'notice'> {
    if (onNotice === undefined)
      return this.#told.forAnswer({ view, source, requestedServers: facts.requestedServers, outcome }, this.tools());
    this.#notify(source, view, onNotice);
    return { declarations: [] };
  }

  #notify(source: string, view: ToolView, onNotice: ((text: string) => void) | undefined): void {
    if (onNotice !== undefined) for (const text of this.#told.asTexts({ source, view }, this.tools())) onNotice(text);
  }

  #executionOptions(
    { owner, facts, calls, redactor }: Run,
    { signal, onLog, askPerson, suspendsToAsk, answerWithinMs, script }: Partial<RunRequest>,
  ): ExecutionOptions {
    const context = (): JsonValue => ({ facts, ...calls.soFar }) as unknown as JsonValue;
    const title = () => cleanTitle(redactor, facts.context.source);
    const isAskedWithAnswer = suspendsToAsk === true && script === undefined;
    return {
      caller: this.caller,
      answerCall: (call, hooks) => calls.answer(call, hooks),
      // A script, whose calls block it, cannot be put away.
      ...(script === undefined ? { records: this.#parts.sleeping.recordsOf(owner, context, title) } : {}),
      patienceMs: isAskedWithAnswer ? GATHER_CALLS_MS : this.#patience(askPerson, answerWithinMs),
      ...(isAskedWithAnswer ? { suspendsToAsk: true } : {}),
      onDrain: (listener) => this.#parts.live.onDrain(listener),
      ...(askPerson === undefined ? {} : { askPerson }),
      ...(signal === undefined ? {} : { signal }),
      ...(onLog === undefined ? {} : { onLog: cleanLog(redactor, (entry) => onLog(entry, owner.id)) }),
    };
  }

  #patience(askPerson: AskPerson | undefined, answerWithinMs = ASKED_PATIENCE_MS): number {
    if (askPerson === undefined) return this.#parts.patienceMs;
    return Math.min(ASKED_PATIENCE_MS, Math.max(0, answerWithinMs - ANSWER_MARGIN_MS));
  }

  async #conclude(run: Run, end: ExecutionEnd, sandbox: Sandbox): Promise<RunAnswer> {
    const { owner, calls, redactor } = run;
    const { tools, nested } = calls;
    const { audit } = await this.#parts.runtime.open();
    audit?.flush();
    if (end.state === 'unwritten')
      throw new HostError(
        'internal',
        `what run ${owner.id} did could not be written down, so it sleeps on; make room on the disk, then: codemode runs resume ${owner.id}`,
      );
    if (end.state === 'asleep') {
      run.steps.asleep();
      const seen = { approvals: end.approvals, logs: end.logs };
      const { approvals, logs } = redactor?.bulk(seen) ?? seen;
      const { label } = run.facts;
      const summary = { runId: owner.id, approvals, logs, trace: tools.trace, callCount: tools.sentCount };
      return { state: 'asleep', summary: label === undefined ? summary : { ...summary, label } };
    }
    const whole = nested.withLogs(end.report);
    const redacted: Record<string, number> = {};
    const report = redactor === undefined ? whole : await cleanReport(redactor, whole, redacted);
    tools.countRedactions(redacted);
    await audit?.redacted(run.facts.context, redacted);
    const { results, sleeping } = this.#parts;
    const { presentation, maxResultBytes } = this.#options;
    const { source } = report.journal;
    const named = withCalleeNamed(report.outcome, source, run.view.forCode, this.#options.profile);
    const outcome = withUnfinished(named, tools.unfinished.mayHaveRun());
    const { context, limits, requestedServers, label } = run.facts;
    const keep = { results, owner: context, received: context.ledger.received };
    const summary: RunSummary = {
      runId: context.runId,
      ...(label === undefined ? {} : { label }),
      ...handOver(outcome, presentation, maxResultBytes, keep),
      ...logKeeper(report.logs, maxResultBytes, keep),
      logs: report.logs,
      logsCut: report.logsCut,
      trace: tools.traceAtEnd(),
      durationMs: report.durationMs,
      usage: report.usage,
      callCount: tools.sentCount,
      isRepeatable: tools.isRepeatable,
      failures: tools.failures,
      limits,
      isolation: sandbox.jail.level,
      warnings: [...tools.warnings],
      partialAnswers: tools.partialAnswers.list(),
      unavailable: missingServers(requestedServers, source, run.view, (id) => this.#parts.catalog.startingNote(id)),
      redactions: tools.redactions,
      ...this.#news(run, source, outcome),
    };
    this.#parts.observed?.noteUse(this.caller, serversUsed(tools.trace));
    const state = stateOf(report.outcome);
    run.steps.ended(report.outcome, report.durationMs, report.usage);
    const recording = {
      runId: context.runId,
      caller: this.caller,
      codeDigest: context.codeDigest,
      environment: { build: sandbox.build, node: process.version, isolation: sandbox.jail.level },
      journal: report.journal,
      calls: calls.recorded,
      outcome: report.outcome,
    };
    const glance = { title: cleanTitle(redactor, source), durationMs: report.durationMs };
    // The answer does not wait for it.
    void sleeping.recordEnd(owner, state, presentation.response(summary), recording, glance);
    return { state: 'finished', summary };
  }

  #present(answer: RunAnswer): JsonValue {
    const { presentation } = this.#options;
    switch (answer.state) {
      case 'finished':
        return presentation.response(answer.summary);
      case 'asleep':
        return presentation.sleeping(answer.summary);
      case 'running':
        return { runId: answer.runId };
    }
  }

  #viewOf(snapshot: CatalogSnapshot): ToolView {
    if (this.#view?.of !== snapshot) {
      const { codeMode, reservedNames, profile } = this.#options;
      const { observed, gate } = this.#parts;
      const policy = toolPolicyOf(gate, { caller: this.caller, profile });
      const view = { ...viewOf(snapshot, codeMode, reservedNames, policy), ...observed?.of(this.caller) };
      this.#view = { of: snapshot, view };
    }
    return this.#view.view;
  }
}

function ownerOf({ runId, caller, profile, codeDigest }: RunContext): RunOwner {
  return { id: runId, caller, profile, codeDigest };
}
