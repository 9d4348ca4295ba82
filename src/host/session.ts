import { randomUUID } from 'node:crypto';
import type { BrokerOutcome } from '../broker/broker.js';
import { intersectionOf } from '../broker/capabilities/bounds.js';
import { ReceivedData } from '../broker/policy/flow.js';
import { openRunContext, type RunContext } from '../broker/run-context.js';
import type { WaitProgress } from '../catalog/catalog.js';
import type { CatalogServer } from '../catalog/snapshot.js';
import type { CapabilitySet } from '../domain/capability.js';
import { HostError } from '../domain/errors.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import { PROCESS_LANGUAGES, type ProcessLanguage } from '../domain/process-program.js';
import { needsOf } from '../domain/profile-name.js';
import type { CallerId, Outcome, RunId } from '../domain/run.js';
import type { ScriptHead, StoredScript } from '../domain/script.js';
import { duringStep } from '../domain/step.js';
import type { StopSignal } from '../domain/stop-signal.js';
import type { TypeVerdict } from '../domain/type-check.js';
import { Cancellation } from '../lib/async/cancellation.js';
import { within } from '../lib/async/within.js';
import { ifDefined, omitUndefined } from '../lib/omit-undefined.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { callDirect, type DirectCallContext, type DirectlyCalled } from './calls/direct-call.js';
import { patienceOf } from './calls/patience.js';
import { RunCalls, type RunCallsSoFar } from './calls/run-calls.js';
import { serversUsed } from './calls/tool-trace.js';
import { checkPython } from './check/check-python.js';
import { SessionTypeCheck } from './check/session-type-check.js';
import { type ProcessRunRequest, type ProcessRunSummary, runProcess } from './processes/process-run.js';
import {
  endedSummary,
  explainedOutcome,
  ownerOf,
  type PreparedRun,
  recordingOf,
  suspendedAnswer,
} from './runs/ended-run.js';
import type { LiveRun } from './runs/live-runs.js';
import { presentAnswer } from './runs/present-answer.js';
import { programForm } from './runs/program-form.js';
import { programRunner } from './runs/program-runner.js';
import { redactLog, redactReport, redactTitle } from './runs/redact-report.js';
import { restoreContext } from './runs/restore-context.js';
import type { ResumedRun } from './runs/resumed-run.js';
import { Run, type RunClient, type RunEnd, type RunOptions } from './runs/run.js';
import { RunCatalog } from './runs/run-catalog.js';
import { missingServers, stateOf } from './runs/run-summary.js';
import { RunTrace } from './runs/run-trace.js';
import type { RunAnswer, RunFacts, RunRequest, RunSummary } from './runs/run-types.js';
import { type ConfirmingClient, type ConfirmingParts, confirmScript } from './scripts/confirm-script.js';
import { connecting } from './servers/connecting.js';
import { ServerNews } from './servers/server-news.js';
import type { SessionOptions, SessionParts } from './session-parts.js';
import { SessionTools } from './tools/session-tools.js';
import type { CatalogContext } from './tools/tool-catalog.js';
import type { ToolView } from './tools/tool-view.js';

export type { BrokerOutcome, DirectCallContext, SessionOptions, SessionParts };

/** If the person is asked in the response: how long to gather calls made together, so that they become one card. */
const GATHER_CALLS_MS = 40;

/** The program, if it is a new run, and the client that waits for it. */
type Preparation = RunClient & Pick<Partial<RunRequest>, 'source' | 'script'>;

/** The options of a stored script's run besides the script and its input. */
export type ScriptRun = Omit<RunRequest, 'source' | 'language' | 'input' | 'script' | 'context'>;

/** Stored with a suspended run besides its program. */
interface SuspendedContext extends RunCallsSoFar {
  readonly facts: RunFacts;
}

/** One caller's view of the tools, which runs programs against them. */
export class Session {
  readonly caller: CallerId;
  /** The capabilities of the caller's token. */
  readonly bounds: CapabilitySet | undefined;
  /** What the token and the configuration grant. Nothing else is called or shown in this session, under any contract. */
  readonly #reach: CapabilitySet | undefined;
  readonly #parts: SessionParts;
  readonly #options: SessionOptions;
  readonly #told: ServerNews;
  /** Data that the client has received through direct calls: it holds the data between its calls. */
  readonly #received = new ReceivedData();
  readonly #check: SessionTypeCheck;
  readonly #tools: SessionTools;

  constructor(parts: SessionParts, options: SessionOptions) {
    this.caller = options.caller;
    this.bounds = options.bounds;
    this.#reach = options.bounds && intersectionOf(options.bounds, parts.reach);
    this.#parts = parts;
    this.#options = options;
    this.#check = new SessionTypeCheck(options.caller, options.checkedLibrary, options.checksBodies === true);
    this.#tools = new SessionTools(parts, options, this.#reach);
    this.#told = new ServerNews({ catalog: parts.catalog, declarations: options.declarations });
  }

  /** The contract of its programs. */
  get profile(): string {
    return this.#options.profile;
  }

  /** The current tools, split into those for programs and those that the client calls directly. */
  tools(): ToolView {
    return this.#tools.now();
  }

  /** Whether the client writes programs or calls tools itself. */
  get codeMode(): Pick<SessionTools, 'isCodeMode' | 'choose'> {
    return this.#tools;
  }

  /** The context for questions about these tools, with the names for every real interpreter. */
  catalogContext(): CatalogContext {
    return { snapshot: this.tools().forCode, catalog: this.#parts.catalog, languages: PROCESS_LANGUAGES };
  }

  /** The stored scripts that programs of this caller may run. */
  scripts(): ScriptHead[] {
    return [...this.#parts.scripts.known()];
  }

  /** The client got its instructions, made from this view. */
  instructed(view: ToolView): void {
    this.#told.instructed(view);
  }

  /** The client got its tool list, made from this view. */
  listed(view: ToolView): void {
    this.#told.listed(view);
  }

  /** Waits for starting servers until each has had `withinMs` since it was asked. Reports those still awaited. */
  async settled(withinMs: number, onProgress?: WaitProgress): Promise<ToolView> {
    return this.#tools.settled(withinMs, onProgress);
  }

  onToolsChanged(listener: () => void): () => void {
    return this.#parts.catalog.onChange(listener);
  }

  /** Waits until servers that were never asked have answered or failed: the named servers, or all. */
  async ready(...names: readonly string[]): Promise<ToolView> {
    return this.#tools.ready(names);
  }

  /** Runs a program. A failed program is an answer; only the host's own failures and `quota_exceeded` are thrown. */
  async run(request: RunRequest): Promise<RunAnswer> {
    const runId = randomUUID();
    const createdAtMs = Date.now();
    const { profile } = this.#options;
    const steps = new RunTrace(this.#parts, { runId, profile, parent: request.trace });
    const context = openRunContext(runId, this.caller, profile, request.source, {
      createdAtMs,
      sessionId: this.#options.sessionId,
      grants: request.grants ?? this.#reach,
      trace: steps.context,
      authorizedUntilMs: request.authorizedUntilMs,
      // The scripts contract has one timeout, and its calls may use all of it.
      callTimeoutMs: request.script === undefined ? undefined : request.limits.timeoutMs,
      cannotSuspend: request.script && { language: request.language, input: request.script.input },
    });
    request.onBegin?.(runId, createdAtMs);
    const execute = (signal: StopSignal, live: LiveRun) => this.#execute(context, { ...request, signal }, steps, live);
    const answered = steps.follow(this.#shown({ ...request, runId, createdAtMs }, execute));
    // The client of a script gets its result only in this response.
    if (request.answerWithinMs === undefined || request.script !== undefined) return answered;
    const first = await within(answered, request.answerWithinMs);
    if (first !== 'late') return first;
    const ended = answered.then(
      (answer) => ({
        response: presentAnswer(this.#options.presentation, answer),
        isSuspended: answer.state === 'suspended',
      }),
      (error: unknown) => {
        const response = { error: error instanceof Error ? error.message : 'the run failed' };
        return { response, isSuspended: false };
      },
    );
    this.#parts.results.keepRun(context, { runId, ended, received: context.ledger.received });
    return { state: 'running', runId };
  }

  /** Resumes a suspended run of this caller. Resolves when the run ends or is suspended again. */
  resume(resumed: ResumedRun, client: RunClient = {}): Promise<void> {
    return this.#parts.live.during(() => this.#resume(resumed, client));
  }

  async #resume(resumed: ResumedRun, client: RunClient): Promise<void> {
    const { runtime, catalog, gate } = this.#parts;
    const { sandbox } = await runtime.open();
    const { facts, ...before } = resumed.context as unknown as SuspendedContext;
    // This host may have started after the one that suspended the run, and may not know the servers yet.
    await this.#tools.viewFor(facts.context.source, facts.requestedServers);
    const { trace: parent, ...known } = restoreContext(facts.context, resumed, catalog.snapshot(), gate);
    const { runId, profile } = known;
    const steps = new RunTrace(this.#parts, { runId, profile, parent, isResumed: true });
    const context = steps.context === undefined ? known : { ...known, trace: steps.context };
    const continued = async (): Promise<RunAnswer> => {
      const run = await this.#prepare({ ...facts, context }, client, steps, before);
      const options = this.#runOptions(run, { signal: resumed.signal, ...client });
      const resume = () => Run.resume(sandbox, resumed.stored, options);
      const started = await steps.start(resume);
      return this.#conclude(run, await started.ended, sandbox);
    };
    await steps.follow(continued());
    await this.#parts.suspended.settled();
  }

  /** Runs a program on a real interpreter until it ends. Throws `quota_exceeded`. */
  async runProcess(request: ProcessRunRequest): Promise<ProcessRunSummary> {
    const { profile, presentation } = this.#options;
    const prepare = (source: string) => this.#tools.viewFor(source, []);
    const awaitServer = (server: CatalogServer) => this.#tools.awaitServer(server);
    const notify = ({ source, onNotice }: ProcessRunRequest, view: ToolView) => this.#notify(source, view, onNotice);
    const { caller } = this;
    const bounds = this.#reach;
    const refusalOf = async ({ language, source }: ProcessRunRequest, view: ToolView) => {
      if (language !== 'node') return undefined;
      return this.#check.refusalOfNode((await this.#parts.runtime.open()).types, source, view);
    };
    const own = { parts: this.#parts, caller, bounds, profile, presentation };
    const runner = { ...own, prepare, awaitServer, refusalOf, notify };
    request.onBegin?.(request.runId, request.createdAtMs);
    const summary = await this.#shown(request, (signal) => runProcess(runner, { ...request, signal }));
    this.#parts.observed?.noteUse(caller, serversUsed(summary.trace));
    return summary;
  }

  /**
   * Runs a stored script as its own run. `input` must match the script's schema. If its tools have changed since it was stored, the
   * policy decides first. Throws `conflict` if that is not allowed.
   */
  async runScript(script: StoredScript, input: JsonObject, request: ScriptRun): Promise<RunAnswer> {
    await this.confirmScript(script, request);
    const { source, language } = script;
    return this.run({ ...request, source, language, input });
  }

  /** The check of `runScript`: throws `conflict` if the script must not run. */
  confirmScript(script: StoredScript, client: ConfirmingClient): Promise<void> {
    const snapshotFor = async (source: string) => (await this.#tools.viewFor(source, [])).forCode;
    const callDirect: ConfirmingParts['callDirect'] = (...call) => this.callDirect(...call);
    return confirmScript({ snapshotFor, callDirect }, script, client);
  }

  /** Runs something that people can see and cancel while it is in flight, besides its own client. */
  async #shown<Result>(
    { runId, createdAtMs, source, signal }: Pick<ProcessRunRequest, 'runId' | 'createdAtMs' | 'source' | 'signal'>,
    run: (signal: StopSignal, live: LiveRun) => Promise<Result>,
  ): Promise<Result> {
    const stop = new Cancellation();
    const cancel = () => stop.cancel();
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted === true) cancel();
    const { profile } = this.#options;
    const shown: LiveRun = { runId, caller: this.caller, profile, source, createdAtMs, cancel };
    try {
      return await this.#parts.live.shown(shown, () => run(stop, shown));
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Calls a tool for the client itself, through the same pipeline as calls from code. */
  async callDirect(direct: DirectlyCalled, input: JsonValue, context: DirectCallContext): Promise<BrokerOutcome> {
    const { broker } = await this.#parts.runtime.open();
    const { caller } = this;
    const bounds = this.#reach;
    const { profile } = this.#options;
    const patienceMs = patienceOf(context, this.#parts.patienceMs);
    const own = { broker, caller, profile, bounds, received: this.#received, patienceMs };
    return callDirect(own, direct, input, context);
  }

  /** The caller, or this session, has ended: deletes its kept results. */
  close(): void {
    this.#parts.results.forget(this.#options);
  }

  async #execute(context: RunContext, request: RunRequest, steps: RunTrace, live: LiveRun): Promise<RunAnswer> {
    const { sandbox, types } = await this.#parts.runtime.open();
    const { source, language, limits } = request;
    const { requestedServers = [] } = request;
    const label = omitUndefined({ label: request.label });
    const bounds = omitUndefined({ bounds: this.bounds });
    const prepared = await this.#prepare({ context, limits, requestedServers, ...label, ...bounds }, request, steps);
    const scripts = await this.#parts.scripts.functionsFor(source);
    const run = { ...prepared, verdict: this.#check.gateFor(types, request, { view: prepared.view, scripts }) };
    const { calls } = run;
    live.soFar = () => ({ calls: calls.recorded, notes: calls.notes });
    const program = { source, language, limits, ...programForm(request, run.view, scripts) };
    calls.awaitVerdict(run.verdict);
    const options = this.#runOptions(run, request);
    const started = await steps.start(() => Run.start(sandbox, program, context.runId as RunId, options));
    return this.#conclude(run, await started.ended, sandbox);
  }

  /**
   * Type-checks a program against the tools that this caller sees now. Nothing is run. `isChecked` is false without a type checker,
   * and if programs of this contract are not checked. `language`: of a program for a real interpreter.
   */
  async check(source: string, language: ProcessLanguage = 'node'): Promise<TypeVerdict> {
    const runtime = await this.#parts.runtime.open();
    const { types } = runtime;
    if (needsOf(this.#options.profile).runtime === 'interpreters') {
      const view = await this.#tools.viewFor(source, []);
      if (language === 'node') return this.#check.checkNode(types, source, view);
      return checkPython(await programRunner('python', runtime), this.caller, source, view.forCode);
    }
    return this.#check.check(types, source, async () => ({
      view: await this.#tools.viewFor(source, []),
      scripts: await this.#parts.scripts.functionsFor(source),
    }));
  }

  /** Connects the servers that the program is about to use, and prepares to answer its calls. */
  async #prepare(facts: RunFacts, waiting: Preparation, steps: RunTrace, before?: RunCallsSoFar): Promise<PreparedRun> {
    const { runtime, catalog } = this.#parts;
    const { source = '', script, onStep, onNotice } = waiting;
    const { sandbox, broker, redactor } = await runtime.open();
    const preparing = () => steps.prepare(() => this.#tools.viewFor(source, facts.requestedServers));
    const view = await duringStep(onStep, connecting(catalog), preparing);
    const seen = new RunCatalog(view.forCode, (server) => this.#tools.awaitServer(server));
    const { presentation } = this.#options;
    const patienceMs = patienceOf(waiting, this.#parts.patienceMs);
    const callsContext = { facts, seen, presentation, script, patienceMs, client: waiting };
    const calls = new RunCalls({ sandbox, broker, ...this.#parts }, callsContext, before);
    return { owner: ownerOf(facts.context), facts, view, calls, steps, redactor, onNotice };
  }

  /** The server news of the answer. It goes to `onNotice` if the contract's answers have no field for it. */
  #news(
    { view, facts, calls, onNotice }: PreparedRun,
    source: string,
    outcome: Outcome,
  ): Pick<RunSummary, 'declarations' | 'notice'> {
    const { requestedServers } = facts;
    const { failures } = calls.tools;
    if (onNotice === undefined)
      return this.#told.forAnswer({ view, source, requestedServers, outcome, failures }, this.tools());
    this.#notify(source, view, onNotice);
    return { declarations: [] };
  }

  #notify(source: string, view: ToolView, onNotice: ((text: string) => void) | undefined): void {
    if (onNotice !== undefined) for (const text of this.#told.asTexts({ source, view }, this.tools())) onNotice(text);
  }

  #runOptions({ owner, facts, calls, redactor }: PreparedRun, request: Partial<RunRequest>): RunOptions {
    const { signal, onLog, script } = request;
    const context = (): JsonValue => ({ facts, ...calls.soFar }) as unknown as JsonValue;
    const title = () => redactTitle(redactor, facts.context.source);
    const asksWithAnswer = request.suspendsToAsk === true && script === undefined;
    return {
      caller: this.caller,
      calls,
      // A script is blocked by its calls, so it cannot be suspended.
      ...(script === undefined ? { records: this.#parts.suspended.recordsOf(owner, context, title) } : {}),
      patienceMs: asksWithAnswer ? GATHER_CALLS_MS : patienceOf(request, this.#parts.patienceMs),
      client: request,
      onDrain: (listener) => this.#parts.live.onDrain(listener),
      ...omitUndefined({
        signal,
        onLog: ifDefined(onLog, (onLog) => redactLog(redactor, (entry) => onLog(entry, owner.id))),
      }),
    };
  }

  async #conclude(run: PreparedRun, end: RunEnd, sandbox: Sandbox): Promise<RunAnswer> {
    const { owner, calls, redactor } = run;
    const { tools, nested } = calls;
    const { audit } = await this.#parts.runtime.open();
    await audit?.flush();
    if (end.state === 'unwritten')
      throw new HostError(
        'internal',
        `the progress of run ${owner.id} could not be stored; it is resumed from its last stored state, here or by another host; see: codemode runs show ${owner.id}`,
      );
    if (end.state === 'suspended') return suspendedAnswer(run, end);
    const whole = nested.withLogs(end.report);
    const redacted: Record<string, number> = {};
    const report = redactor === undefined ? whole : await redactReport(redactor, whole, redacted);
    tools.countRedactions(redacted);
    await audit?.redacted(run.facts.context, redacted);
    const { source } = report.journal;
    const { catalog, observed, suspended, results } = this.#parts;
    const outcome = explainedOutcome(run, report, { profile: this.#options.profile, grants: this.#reach, catalog });
    const summary: RunSummary = {
      ...endedSummary(run, report, outcome, { results, sandbox, options: this.#options }),
      unavailable: missingServers(run.facts.requestedServers, source, run.view, (id) => catalog.startingNote(id)),
      ...this.#news(run, source, outcome),
      ...this.#check.newsOf(run.verdict, outcome),
    };
    observed?.noteUse(this.caller, serversUsed(tools.trace));
    run.steps.ended(report.outcome, report.durationMs, report.usage);
    const response = this.#options.presentation.response(summary);
    const listed = { title: redactTitle(redactor, source), durationMs: report.durationMs, figures: tools.figures };
    // The response does not wait for this write.
    void suspended.recordEnd(owner, stateOf(report.outcome), response, recordingOf(run, report, sandbox), listed);
    return { state: stateOf(summary.outcome), summary };
  }
}
