import { hash, randomUUID } from 'node:crypto';
import { toolDigestOf } from '../broker/approvals/identity.js';
import type { BrokerOutcome } from '../broker/broker.js';
import { ReceivedData } from '../broker/policy/flow.js';
import type { PolicyGate } from '../broker/policy/gate.js';
import type { Redactor } from '../broker/redaction/redactor.js';
import { openRunContext, type RunContext } from '../broker/run-context.js';
import { RunLedger } from '../broker/run-ledger.js';
import type { Catalog } from '../catalog/catalog.js';
import type { LearnedTypes } from '../catalog/observed/learned-types.js';
import type { CatalogSnapshot, CatalogTool } from '../catalog/snapshot.js';
import { HostError } from '../domain/errors.js';
import type { CallerId, ExecutionId } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import type { Tool } from '../domain/tool.js';
import type { CallProgress } from '../domain/upstream.js';
import { canonicalJson } from '../lib/canonical-json.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { cleanLog, cleanReport } from './clean-report.js';
import { answerDiscovery, findServer, isDiscovery } from './discovery.js';
import { type AnswerCall, type AskPerson, Execution, type ExecutionEnd, type ExecutionOptions } from './execution.js';
import { modulesOf } from './modules.js';
import { reviveContext } from './recall.js';
import { type RecordedCall, recordedCall } from './recording.js';
import { isResults, type KeptResults } from './results.js';
import type { Presentation, RunAnswer, RunFacts, RunRequest, RunSummary } from './run.js';
import type { Runtime } from './runtime.js';
import { ScriptCalls, serversMentioned } from './script-calls.js';
import type { RunOwner, SleepingRuns, WokenRun } from './sleeping-runs.js';
import { brokenImports, firstDeclarations, handOver, missingServers } from './summary.js';
import { type CallsSoFar, ToolCalls } from './tool-calls.js';
import { type CodeModeSettings, type DirectTool, type ToolView, viewOf } from './tool-view.js';

export type { BrokerOutcome };

export interface SessionOptions {
  readonly caller: CallerId;
  /** Name of the contract. */
  readonly profile: string;
  readonly presentation: Presentation;
  readonly codeMode: CodeModeSettings;
  /** Names that no direct tool may take. */
  readonly reservedNames: readonly string[];
  /** Results above it are kept for a later run instead of being handed over. */
  readonly maxResultBytes: number;
  /** The caller will not come back under this name: what it sees is kept for as long as it is here. */
  readonly isTransient?: boolean;
}

export interface SessionParts {
  readonly runtime: Runtime;
  readonly catalog: Catalog;
  readonly gate: PolicyGate;
  readonly results: KeptResults;
  readonly sleeping: SleepingRuns;
  /** How long a program keeps its place while all it waits for is a person. */
  readonly patienceMs: number;
  /** Absent where learning is switched off. */
  readonly observed?: LearnedTypes;
}

/** A person who was asked through the client may take this long, unless the client gives up before. */
const ASKED_PATIENCE_MS = 5 * 60_000;
/** Before the client gives up: to put the program away, and to answer. */
const ANSWER_MARGIN_MS = 2_000;

/** A run under way: what is known of it, and what has become of its calls. */
interface Run {
  readonly owner: RunOwner;
  readonly facts: RunFacts;
  readonly view: ToolView;
  readonly calls: ToolCalls;
  readonly recorded: Map<number, RecordedCall>;
  readonly answerCall: AnswerCall;
  readonly redactor: Redactor | undefined;
}

/** The program, where it starts anew, and who wants to hear of its progress. */
type Preparation = Partial<Pick<RunRequest, 'source' | 'onProgress' | 'script'>>;

/** What is written down of a run that sleeps, besides its program. */
interface SleepContext {
  readonly facts: RunFacts;
  readonly soFar: CallsSoFar;
  readonly recorded: readonly RecordedCall[];
}

/** One caller's view: which tools there are, and running programs against them. */
export class Session {
  readonly caller: CallerId;
  readonly #parts: SessionParts;
  readonly #options: SessionOptions;
  readonly #declared = new Set<string>();
  /** What the client has got by calling tools itself: between two of its calls the data is in the same hands. */
  readonly #received = new ReceivedData();
  #view: { readonly of: CatalogSnapshot; readonly view: ToolView } | undefined;

  constructor(parts: SessionParts, options: SessionOptions) {
    this.caller = options.caller;
    this.#parts = parts;
    this.#options = options;
    if (options.isTransient === true) parts.observed?.keepInMemory(this.caller);
  }

  /** What exists now, split into what programs and what the client itself may call. */
  tools(): ToolView {
    return this.#viewOf(this.#parts.catalog.snapshot());
  }

  onToolsChanged(listener: () => void): () => void {
    return this.#parts.catalog.onChange(listener);
  }

  /** Waits until servers that were never asked have answered, or are known not to. */
  async ready(): Promise<ToolView> {
    return this.#viewOf(await this.#parts.catalog.prepare());
  }

  search(query: string, options?: { serverId?: string; limit?: number }) {
    return this.#parts.catalog.search(query, options);
  }

  /** Runs a program. A program that fails is an answer; only the host's own failures are thrown. */
  async run(request: RunRequest): Promise<RunAnswer> {
    const context = openRunContext(randomUUID(), this.caller, this.#options.profile, request.source);
    const { runId } = context;
    const answered = this.#execute(context, request);
    // What a script gives back has no other way to its client than this answer.
    if (request.answerWithinMs === undefined || request.script !== undefined) return answered;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), request.answerWithinMs);
    });
    const first = await Promise.race([answered, late]).finally(() => clearTimeout(timer));
    if (first !== 'late') return first;
    const response = answered.then(
      (answer) => this.#present(answer),
      (error: unknown) => ({ error: error instanceof Error ? error.message : 'the run failed' }),
    );
    this.#parts.results.keepRun(this.caller, { runId, response, received: context.ledger.received });
    return { state: 'running', runId };
  }

  /** Goes on with a run of this caller that slept, until it ends or sleeps again. */
  async wake(woken: WokenRun): Promise<void> {
    const { runtime, catalog, gate } = this.#parts;
    const { sandbox } = await runtime.open();
    const { facts, soFar, recorded } = woken.context as unknown as SleepContext;
    const context = reviveContext(facts.context, woken.sleeper, catalog.snapshot(), gate);
    const run = await this.#prepare({ ...facts, context }, {}, soFar, recorded);
    const execution = await Execution.wake(sandbox, woken.sleeper, this.#executionOptions(run, {}));
    await this.#conclude(run, await execution.ended, sandbox);
    await this.#parts.sleeping.settled();
  }

  /** A tool called by the client itself, through the same pipeline as calls from code. */
  async callDirect(
    { tool: { tool, server, exportName } }: DirectTool,
    input: JsonValue,
    { signal, onProgress, askPerson }: DirectCircumstances,
  ): Promise<BrokerOutcome> {
    const { broker } = await this.#parts.runtime.open();
    // The same call made again is the same question: a yes that came too late for the first is there for the second.
    const identity = canonicalJson([this.caller, tool.serverId, tool.name, input]);
    const runId = `direct-${hash('sha256', identity, 'hex').slice(0, 32)}`;
    const patience = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await broker.handle({
        run: openRunContext(runId, this.caller, this.#options.profile, '', new RunLedger(this.#received)),
        number: 0,
        tool,
        serverPath: server.path,
        exportName,
        input,
        signal: AbortSignal.any([signal, patience.signal]),
        onPending: (approval) => {
          timer = setTimeout(() => patience.abort(), this.#patience(askPerson));
          askPerson?.([approval], signal).catch(() => {});
        },
        onDecided: () => clearTimeout(timer),
        ...(onProgress === undefined ? {} : { onProgress }),
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The caller will not come back: nothing is kept for it any more. */
  close(): void {
    this.#parts.results.forget(this.caller);
    this.#parts.observed?.forget(this.caller);
  }

  async #execute(context: RunContext, request: RunRequest): Promise<RunAnswer> {
    const { sandbox } = await this.#parts.runtime.open();
    const { source, language, limits, script } = request;
    const requestedServers =
      script === undefined ? (request.requestedServers ?? []) : serversMentioned(source, this.tools().forCode);
    const run = await this.#prepare({ context, limits, requestedServers }, request);
    const form =
      script === undefined
        ? { modules: modulesOf(run.view.forCode) }
        : { modules: [], blocking: true, script: { input: script.input, calls: [script.callTool] } };
    const program = { source, language, limits, ...form };
    const execution = await Execution.start(
      sandbox,
      program,
      context.runId as ExecutionId,
      this.#executionOptions(run, request),
    );
    return this.#conclude(run, await execution.ended, sandbox);
  }

  /** Connects what the program is about to use, and stands ready to answer its calls. */
  async #prepare(
    facts: RunFacts,
    { source = '', onProgress, script }: Preparation,
    soFar?: CallsSoFar,
    before: readonly RecordedCall[] = [],
  ): Promise<Run> {
    const { runtime, catalog, gate, results, sleeping, observed } = this.#parts;
    const { broker, redactor } = await runtime.open();
    const { presentation } = this.#options;
    const known = this.tools();
    const requested = facts.requestedServers.flatMap((name) => findServer(name, known.forCode)?.path ?? []);
    // Somebody may have logged in meanwhile: those that the program imports are asked again.
    const locked = brokenImports(source, known).filter((path) => catalog.needsLogin(path));
    const view = this.#viewOf(await catalog.prepare([...requested, ...locked]));
    const snapshot = view.forCode;
    const { maxToolCalls } = facts.limits;
    const present = (outcome: BrokerOutcome) => presentation.reply(outcome);
    const calls = new ToolCalls(
      {
        run: facts.context,
        snapshot,
        broker,
        maxToolCalls,
        present,
        // What a script gets is an envelope around the answer.
        ...(script === undefined ? { observe: (tool, value) => observed?.observe(this.caller, tool, value) } : {}),
        ...(onProgress === undefined ? {} : { onProgress }),
      },
      soFar,
    );
    const scriptCalls =
      script === undefined
        ? undefined
        : new ScriptCalls(calls, { snapshot, maxToolCalls, present, allowedServers: script.allowedServers });
    const typeOf = (tool: Tool) => observed?.typeOf(this.caller, tool);
    const recorded = new Map(before.map((each) => [each.number, each]));
    const { ledger } = facts.context;
    const onReceived = (received: ReceivedData | 'unknown') =>
      received === 'unknown' ? gate.receivedUnknown(ledger) : ledger.received.receiveAll(received);
    const answerCall: AnswerCall = async (call, hooks) => {
      const input = JSON.parse(call.argumentsJson) as JsonValue[];
      const tool = (scriptCalls?.toolOf(input) ?? snapshot.toolByTarget.get(call.target))?.tool;
      recorded.set(call.number, recordedCall(call, tool === undefined ? undefined : toolDigestOf(tool)));
      if (scriptCalls !== undefined) return scriptCalls.answer(call, input, hooks);
      if (isDiscovery(call.target)) return answerDiscovery(call.target, input, snapshot, catalog, typeOf);
      if (isResults(call.target))
        return results.answer(call.target, input, this.caller, { sleeping, signal: hooks.signal, onReceived });
      return calls.answer(call, input, hooks);
    };
    return { owner: ownerOf(facts.context), facts, view, calls, recorded, answerCall, redactor };
  }

  #executionOptions(
    { owner, facts, calls, recorded, answerCall, redactor }: Run,
    { signal, onLog, askPerson, answerWithinMs }: Partial<RunRequest>,
  ): ExecutionOptions {
    const context = (): JsonValue =>
      ({ facts, soFar: calls.soFar, recorded: [...recorded.values()] }) as unknown as JsonValue;
    return {
      caller: this.caller,
      answerCall,
      records: this.#parts.sleeping.recordsOf(owner, context),
      patienceMs: this.#patience(askPerson, answerWithinMs),
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
    const { audit } = await this.#parts.runtime.open();
    audit?.flush();
    if (end.state === 'unwritten')
      throw new HostError(
        'internal',
        `what run ${owner.id} did could not be written down, so it sleeps on; make room on the disk, then: codemode runs resume ${owner.id}`,
      );
    if (end.state === 'asleep') {
      const seen = { approvals: end.approvals, logs: end.logs };
      const { approvals, logs } = redactor?.bulk(seen) ?? seen;
      return { state: 'asleep', summary: { runId: owner.id, approvals, logs, trace: calls.trace } };
    }
    const report = redactor === undefined ? end.report : cleanReport(redactor, end.report, calls.redactions);
    const { results, sleeping } = this.#parts;
    const { presentation, maxResultBytes } = this.#options;
    const { source } = report.journal;
    const { context, limits, requestedServers } = run.facts;
    const { received } = context.ledger;
    const summary: RunSummary = {
      runId: context.runId,
      ...handOver(report.outcome, presentation, maxResultBytes, { results, caller: this.caller, received }),
      logs: report.logs,
      logsCut: report.logsCut,
      trace: calls.trace,
      durationMs: report.durationMs,
      limits,
      isolation: sandbox.jail.level,
      warnings: [...calls.warnings],
      unavailable: missingServers(requestedServers, source, run.view),
      redactions: calls.redactions,
      declarations: firstDeclarations(run.view, source, requestedServers, this.#declared),
    };
    const state = report.outcome.status === 'completed' ? 'finished' : 'failed';
    // The answer does not wait for it.
    void sleeping.recordEnd(owner, state, presentation.response(summary), {
      runId: context.runId,
      caller: this.caller,
      codeDigest: context.codeDigest,
      environment: { build: sandbox.build, node: process.version, isolation: sandbox.jail.level },
      journal: report.journal,
      calls: [...run.recorded.values()],
      outcome: report.outcome,
    });
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
      const isHidden = ({ tool, server }: CatalogTool) => gate.policy.hides(tool, server.path, this.caller, profile);
      const seen = observed === undefined ? {} : { observedTypeOf: (tool: Tool) => observed.typeOf(this.caller, tool) };
      this.#view = { of: snapshot, view: { ...viewOf(snapshot, codeMode, reservedNames, isHidden), ...seen } };
    }
    return this.#view.view;
  }
}

/** What a surface knows about a client that calls a tool directly. */
export interface DirectCircumstances {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
  readonly askPerson?: AskPerson | undefined;
}

function ownerOf({ runId, caller, profile, codeDigest }: RunContext): RunOwner {
  return { id: runId, caller, profile, codeDigest };
}
