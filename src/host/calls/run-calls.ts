import { toolDigestOf } from '../../broker/approvals/identity.js';
import type { Broker, BrokerOutcome } from '../../broker/broker.js';
import type { ReceivedData } from '../../broker/policy/flow.js';
import type { PolicyGate } from '../../broker/policy/gate.js';
import type { Catalog } from '../../catalog/catalog.js';
import { methodOf } from '../../catalog/namespaces.js';
import type { LearnedTypes } from '../../catalog/observed/learned-types.js';
import type { CatalogSnapshot, CatalogTool } from '../../catalog/snapshot.js';
import type { JsonValue } from '../../domain/json.js';
import { needsOf } from '../../domain/profile-name.js';
import type { CallReply, Failure, GuestCall } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import type { TypeCheckGate } from '../check/type-check-gate.js';
import { type RecordedCall, recordedCall } from '../recordings/recorded-call.js';
import type { RunNotes } from '../recordings/run-notes.js';
import { isResults, type KeptResults } from '../runs/kept-results.js';
import type { CallAnswerer, RunCallDelegate, RunClient } from '../runs/run.js';
import type { RunCatalog } from '../runs/run-catalog.js';
import type { Presentation, RunFacts, ScriptRequest } from '../runs/run-types.js';
import type { SuspendedRuns } from '../runs/suspended-runs.js';
import { BrokerDecisions } from '../scripts/broker-decisions.js';
import { type Asker, NestedRuns, type NestedSoFar, type ProgramsCalls } from '../scripts/nested-runs.js';
import { ScriptCalls } from '../scripts/script-calls.js';
import { isScripts, RUN_SCRIPT } from '../scripts/scripts-module.js';
import { isAboutScripts, withScripts } from '../scripts/search-scripts.js';
import type { ScriptLibrary } from '../scripts/stored-scripts.js';
import { answerDiscovery, isDiscovery, questionTooLong, SEARCH_TOOLS, serverAskedAbout } from '../tools/discovery.js';
import { modulesWith } from '../tools/modules.js';
import type { ProgramNames } from './called-tool.js';
import { type CallerTurns, PROGRAM_ENDED } from './caller-turns.js';
import { type CallsSoFar, ToolCalls } from './tool-calls.js';

export interface RunCallsParts {
  readonly sandbox: Sandbox;
  readonly broker: Broker;
  readonly catalog: Catalog;
  readonly gate: PolicyGate;
  readonly results: KeptResults;
  readonly turns: CallerTurns;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  readonly observed?: LearnedTypes;
}

/** One run and the client that waits for it. */
export interface RunCallsContext {
  readonly facts: RunFacts;
  /** The catalog that its programs see, unchanged for the whole run. */
  readonly seen: RunCatalog;
  readonly presentation: Presentation;
  readonly patienceMs: number;
  readonly client: RunClient;
  /** Present if the program is a script. */
  readonly script?: ScriptRequest | undefined;
}

/** The stored calls of a suspended run. */
export interface RunCallsSoFar {
  readonly soFar: CallsSoFar;
  readonly recorded: readonly RecordedCall[];
  readonly nested: NestedSoFar;
}

/** Answers everything that the program of one run asks for, and the programs of the stored scripts that it runs. */
export class RunCalls implements CallAnswerer, ProgramsCalls {
  readonly tools: ToolCalls;
  readonly nested: NestedRuns;
  readonly #recorded: Map<number, RecordedCall>;
  readonly #script: ScriptCalls | undefined;
  #verdict: TypeCheckGate | undefined;
  readonly #parts: RunCallsParts;
  readonly #context: RunCallsContext;

  constructor(parts: RunCallsParts, context: RunCallsContext, before?: RunCallsSoFar) {
    this.#parts = parts;
    this.#context = context;
    const { broker, observed, sandbox, scripts } = parts;
    const { facts, seen, presentation, client, patienceMs, script } = context;
    const { snapshot } = seen;
    const { context: run, limits } = facts;
    const { maxToolCalls } = limits;
    const present = (outcome: BrokerOutcome) => presentation.reply(outcome);
    this.tools = new ToolCalls(
      {
        run,
        seen,
        broker,
        maxToolCalls,
        present,
        ...omitUndefined({ arrange: presentation.arrange }),
        // A function body sees tools as methods of an object.
        ...(needsOf(run.profile).program === 'body' ? { namesOf: (tool) => methodNames(tool, seen.snapshot) } : {}),
        // A script gets an envelope around the answer.
        ...(script === undefined || presentation.seen !== undefined
          ? { observe: (tool, value) => observed?.observe(run, tool, presentation.seen?.(value) ?? value) }
          : {}),
        client,
      },
      before?.soFar,
    );
    if (script !== undefined)
      this.#script = new ScriptCalls(this.tools, {
        tools: seen,
        catalog: parts.catalog,
        maxToolCalls,
        present,
        allowedServers: script.allowedServers,
        ...omitUndefined({ onCall: script.onCall }),
      });
    this.nested = new NestedRuns(
      {
        ...{ scripts, turns: parts.turns, sandbox, script, limits, calls: this, patienceMs, client },
        modules: (functions) => modulesWith(snapshot, functions),
        decisions: new BrokerDecisions({
          tools: this.tools,
          seen,
          suspended: parts.suspended,
          sandbox,
          scripts,
          turns: parts.turns,
          maxToolCalls,
        }),
      },
      before?.nested,
    );
    this.#recorded = new Map(before?.recorded.map((each) => [each.number, each]));
  }

  get recorded(): readonly RecordedCall[] {
    return [...this.#recorded.values()];
  }

  /** For people who look at the run. */
  get notes(): RunNotes {
    return { scripts: this.nested.scripts, retries: this.tools.retries };
  }

  get soFar(): RunCallsSoFar {
    return { soFar: this.tools.soFar, recorded: this.recorded, nested: this.nested.soFar };
  }

  /** The first call that leaves the host waits for the type check verdict. */
  awaitVerdict(verdict: TypeCheckGate | undefined): void {
    this.#verdict = verdict;
  }

  /** Answers the run's own program. */
  async answer(call: GuestCall, given: RunCallDelegate): Promise<CallReply> {
    const { seen, facts } = this.#context;
    const { input, delegate } = await this.#read(call, given);
    if (this.#script !== undefined) await this.#script.awaitServer(input);
    const stopped = this.#verdict === undefined ? undefined : await this.#stopped(call, this.#verdict);
    if (stopped !== undefined) return { ok: false, ends: stopped };
    const { snapshot } = seen;
    const tool = this.#script === undefined ? snapshot.toolByTarget.get(call.target) : this.#script.toolOf(input);
    this.#recorded.set(call.number, recordedCall(call, tool === undefined ? undefined : toolDigestOf(tool.tool)));
    return this.#dispatch(call, input, delegate, { context: facts.context, depth: 0, firstNumber: 0 });
  }

  /**
   * Why the program is stopped at this call: the type check says that it would fail later. Questions about tools are still
   * answered.
   */
  async #stopped({ target }: GuestCall, verdict: TypeCheckGate): Promise<Failure | undefined> {
    if (isDiscovery(target) || isResults(target)) return undefined;
    if (!verdict.isOpen) await verdict.opened();
    return verdict.failure;
  }

  async answerFor(asker: Asker, call: GuestCall, given: RunCallDelegate): Promise<CallReply> {
    const { input, delegate } = await this.#read(call, given);
    return this.#dispatch(call, input, delegate, asker);
  }

  /** Parses the arguments. Large ones are parsed, checked and sent in turns of the event loop of their own. */
  async #read(call: GuestCall, delegate: RunCallDelegate) {
    const { caller } = this.#context.facts.context;
    return this.#parts.turns.inSteps(caller, call.argumentsJson, delegate, () => inputOf(call));
  }

  async #dispatch(
    call: GuestCall,
    input: readonly JsonValue[],
    delegate: RunCallDelegate,
    asker: Asker,
  ): Promise<CallReply> {
    const { results, suspended, turns, gate } = this.#parts;
    const { ledger, runId } = asker.context;
    const numbered = asker.firstNumber === 0 ? call : { ...call, number: asker.firstNumber + call.number };
    if (this.#script !== undefined) return this.#answerScript(this.#script, numbered, input, delegate, asker);
    if (isDiscovery(call.target)) return this.#answerAbout(call, input, delegate, asker);
    if (isScripts(call.target)) return this.nested.answer(call.target, input, delegate, asker, numbered.number);
    if (isResults(call.target)) {
      const onReceived = (received: ReceivedData | 'unknown') =>
        received === 'unknown' ? gate.receivedUnknown(ledger) : ledger.received.receiveAll(received);
      const { signal, remainingMs } = delegate;
      const context = { runId, suspended, turns, signal, remainingMs, onReceived };
      return results.answer(call.target, input, asker.context, context);
    }
    return this.tools.callTool(numbered, input, delegate, asker.context);
  }

  /** Answers questions about the tools that a program sees. */
  async #answerAbout(
    { target, argumentsJson }: GuestCall,
    input: readonly JsonValue[],
    { signal }: RunCallDelegate,
    { context: { caller, profile } }: Asker,
  ): Promise<CallReply> {
    const { catalog, observed, scripts, turns } = this.#parts;
    const { seen } = this.#context;
    const tooLong = questionTooLong(argumentsJson);
    if (tooLong !== undefined) return { ok: false, error: tooLong };
    await seen.fillIn(serverAskedAbout(input, seen.snapshot));
    const isSearch = target === SEARCH_TOOLS;
    const typeOf = (tool: Tool) => observed?.typeOf({ caller, profile }, tool);
    const answered = await turns.take(caller, signal, async () => {
      const kept = isSearch ? await scripts.of(profile) : [];
      if (isSearch && isAboutScripts(input)) return withScripts(noTools(input), input, kept);
      return withScripts(answerDiscovery(target, input, seen.snapshot, catalog, typeOf), input, kept);
    });
    return answered ?? PROGRAM_ENDED;
  }

  /** Answers a script's call: to a tool, or to a stored script, whose outcome is also returned as a value. */
  async #answerScript(
    script: ScriptCalls,
    call: GuestCall,
    input: readonly JsonValue[],
    delegate: RunCallDelegate,
    asker: Asker,
  ): Promise<CallReply> {
    const { presentation, script: request } = this.#context;
    if (call.target !== request?.callScript) return script.answer(call, input, delegate, asker.context);
    const reply = await this.nested.answer(RUN_SCRIPT, input, delegate, asker, call.number);
    if (reply.ok) return { ok: true, json: `{"ok":true,"result":${String(reply.json)}}` };
    return 'ends' in reply ? reply : presentation.reply({ ok: false, error: reply.error });
  }
}

/** The answer if only scripts are searched. */
function noTools([query = null]: readonly JsonValue[]): CallReply {
  return { ok: true, json: JSON.stringify({ query, results: [] }) };
}

function methodNames(tool: CatalogTool, snapshot: CatalogSnapshot): ProgramNames {
  const { namespace, method } = methodOf(tool, snapshot);
  return { serverName: namespace, exportName: method };
}

function inputOf({ argumentsJson }: GuestCall): JsonValue[] {
  return JSON.parse(argumentsJson) as JsonValue[];
}
