import { toolDigestOf } from '../broker/approvals/identity.js';
import type { Broker, BrokerOutcome } from '../broker/broker.js';
import type { ReceivedData } from '../broker/policy/flow.js';
import type { PolicyGate } from '../broker/policy/gate.js';
import type { Catalog } from '../catalog/catalog.js';
import type { LearnedTypes } from '../catalog/observed/learned-types.js';
import type { CallReply, GuestCall } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import type { Respondent } from '../domain/question.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { answerDiscovery, isDiscovery, questionTooLong, serverAskedAbout } from './discovery.js';
import type { AskPerson, CallHooks } from './execution.js';
import { modulesOf } from './modules.js';
import { type Asker, NestedRuns, type NestedSoFar } from './nested-runs.js';
import { type RecordedCall, recordedCall } from './recorded-call.js';
import { isResults, type KeptResults } from './results.js';
import type { Presentation, RunFacts, ScriptRequest } from './run.js';
import type { RunCatalog } from './run-catalog.js';
import { ScriptCalls } from './script-calls.js';
import { isScripts, RUN_SCRIPT } from './scripts-module.js';
import type { SleepingRuns } from './sleeping-runs.js';
import type { ScriptLibrary } from './stored-scripts.js';
import { type CallsSoFar, ToolCalls } from './tool-calls.js';

export interface RunCallsParts {
  readonly sandbox: Sandbox;
  readonly broker: Broker;
  readonly catalog: Catalog;
  readonly gate: PolicyGate;
  readonly results: KeptResults;
  readonly sleeping: SleepingRuns;
  readonly scripts: ScriptLibrary;
  readonly observed?: LearnedTypes;
}

/** One run, and who waits for it. */
export interface RunCircumstances {
  readonly facts: RunFacts;
  /** What its programs see, from its beginning to its end. */
  readonly seen: RunCatalog;
  readonly presentation: Presentation;
  readonly patienceMs: number;
  readonly askPerson?: AskPerson | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Where its program is a script. */
  readonly script?: ScriptRequest | undefined;
  /** Who answers what servers ask while they work on its calls. */
  readonly respondent?: Respondent | undefined;
}

/** What is written down of the calls of a run that sleeps. */
export interface RunCallsSoFar {
  readonly soFar: CallsSoFar;
  readonly recorded: readonly RecordedCall[];
  readonly nested: NestedSoFar;
}

/** Everything that the program of one run asks for, and the programs of stored scripts that it runs. */
export class RunCalls {
  readonly tools: ToolCalls;
  readonly nested: NestedRuns;
  readonly #recorded: Map<number, RecordedCall>;
  readonly #script: ScriptCalls | undefined;
  readonly #parts: RunCallsParts;
  readonly #circumstances: RunCircumstances;

  constructor(parts: RunCallsParts, circumstances: RunCircumstances, before?: RunCallsSoFar) {
    this.#parts = parts;
    this.#circumstances = circumstances;
    const { broker, observed, sandbox, scripts } = parts;
    const { facts, seen, presentation, onProgress, patienceMs, askPerson, script, respondent } = circumstances;
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
        ...(presentation.arrange === undefined ? {} : { arrange: presentation.arrange }),
        // What a script gets is an envelope around the answer.
        ...(script === undefined ? { observe: (tool, value) => observed?.observe(run.caller, tool, value) } : {}),
        ...(onProgress === undefined ? {} : { onProgress }),
        ...(respondent === undefined ? {} : { respondent }),
      },
      before?.soFar,
    );
    if (script !== undefined)
      this.#script = new ScriptCalls(this.tools, {
        tools: seen,
        startingNote: (id) => parts.catalog.startingNote(id),
        maxToolCalls,
        present,
        allowedServers: script.allowedServers,
        ...(script.onCall === undefined ? {} : { onCall: script.onCall }),
      });
    const answer = (call: GuestCall, hooks: CallHooks, asker: Asker) => this.#answer(call, inputOf(call), hooks, asker);
    this.nested = new NestedRuns(
      { scripts, sandbox, modules: modulesOf(snapshot), script, limits, answer, patienceMs, askPerson },
      before?.nested,
    );
    this.#recorded = new Map(before?.recorded.map((each) => [each.number, each]));
  }

  get recorded(): readonly RecordedCall[] {
    return [...this.#recorded.values()];
  }

  get soFar(): RunCallsSoFar {
    return { soFar: this.tools.soFar, recorded: this.recorded, nested: this.nested.soFar };
  }

  /** Answers the run's own program. */
  async answer(call: GuestCall, hooks: CallHooks): Promise<CallReply> {
    const { seen, facts } = this.#circumstances;
    const input = inputOf(call);
    await this.#script?.awaitServer(input);
    const { snapshot } = seen;
    const tool = this.#script === undefined ? snapshot.toolByTarget.get(call.target) : this.#script.toolOf(input);
    this.#recorded.set(call.number, recordedCall(call, tool === undefined ? undefined : toolDigestOf(tool.tool)));
    return this.#answer(call, input, hooks, { context: facts.context, depth: 0, firstNumber: 0 });
  }

  async #answer(call: GuestCall, input: readonly JsonValue[], hooks: CallHooks, asker: Asker): Promise<CallReply> {
    const { catalog, results, sleeping, observed, gate } = this.#parts;
    const { seen } = this.#circumstances;
    const { caller, ledger, runId } = asker.context;
    const numbered = asker.firstNumber === 0 ? call : { ...call, number: asker.firstNumber + call.number };
    if (this.#script !== undefined) return this.#answerScript(this.#script, numbered, input, hooks, asker);
    if (isDiscovery(call.target)) {
      const tooLong = questionTooLong(call.argumentsJson);
      if (tooLong !== undefined) return { ok: false, error: tooLong };
      await seen.fillIn(serverAskedAbout(input, seen.snapshot));
      return answerDiscovery(call.target, input, seen.snapshot, catalog, (tool) => observed?.typeOf(caller, tool));
    }
    if (isScripts(call.target)) return this.nested.answer(call.target, input, hooks, asker);
    if (isResults(call.target)) {
      const onReceived = (received: ReceivedData | 'unknown') =>
        received === 'unknown' ? gate.receivedUnknown(ledger) : ledger.received.receiveAll(received);
      const { signal, remainingMs } = hooks;
      return results.answer(call.target, input, asker.context, { runId, sleeping, signal, remainingMs, onReceived });
    }
    return this.tools.answer(numbered, input, hooks, asker.context);
  }

  /** What a script calls: a tool, or a stored script, whose end is a value to look at as well. */
  async #answerScript(
    script: ScriptCalls,
    call: GuestCall,
    input: readonly JsonValue[],
    hooks: CallHooks,
    asker: Asker,
  ): Promise<CallReply> {
    const { presentation, script: request } = this.#circumstances;
    if (call.target !== request?.callScript) return script.answer(call, input, hooks, asker.context);
    const reply = await this.nested.answer(RUN_SCRIPT, input, hooks, asker);
    if (reply.ok) return { ok: true, json: `{"ok":true,"result":${String(reply.json)}}` };
    return 'ends' in reply ? reply : presentation.reply({ ok: false, error: reply.error });
  }
}

function inputOf({ argumentsJson }: GuestCall): JsonValue[] {
  return JSON.parse(argumentsJson) as JsonValue[];
}
