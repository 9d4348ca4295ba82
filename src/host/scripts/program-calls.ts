import type { ReceivedData } from '../../broker/policy/flow.js';
import type { PolicyGate } from '../../broker/policy/gate.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { LearnedTypes } from '../../catalog/observed/learned-types.js';
import type { CatalogTool } from '../../catalog/snapshot.js';
import type { JsonValue } from '../../domain/json.js';
import type { Limits } from '../../domain/limits.js';
import type { CallReply, GuestCall } from '../../domain/run.js';
import { CLASSIC_CALLS, type ScriptProfile } from '../../domain/script.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import type { CallForm, CallingProgram } from '../calls/call-form.js';
import { type CallerTurns, PROGRAM_ENDED } from '../calls/caller-turns.js';
import type { ToolCalls } from '../calls/tool-calls.js';
import { isResults, type KeptResults } from '../runs/kept-results.js';
import type { RunCallDelegate, RunClient } from '../runs/run.js';
import type { RunCatalog } from '../runs/run-catalog.js';
import type { Presentation, ScriptRequest } from '../runs/run-types.js';
import type { SuspendedRuns } from '../runs/suspended-runs.js';
import { answerDiscovery, isDiscovery, questionTooLong, SEARCH_TOOLS, serverAskedAbout } from '../tools/discovery.js';
import { modulesWith } from '../tools/modules.js';
import { BrokerDecisions } from './broker-decisions.js';
import type { Asker, ProgramAnswerer } from './nested-calls.js';
import { NestedRuns, type NestedSoFar } from './nested-runs.js';
import { ScriptCalls } from './script-calls.js';
import { isScripts, RUN_SCRIPT } from './scripts-module.js';
import { isAboutScripts, withScripts } from './search-scripts.js';
import type { ScriptLibrary } from './stored-scripts.js';

export interface ProgramCallsParts {
  readonly sandbox: Sandbox;
  readonly catalog: Catalog;
  readonly gate: PolicyGate;
  readonly results: KeptResults;
  readonly turns: CallerTurns;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  readonly observed?: LearnedTypes;
  /** The wording of the contracts that scripts are written for. */
  readonly presentations: Readonly<Record<ScriptProfile, Presentation>>;
}

/** The run that the programs belong to. */
export interface ProgramCallsContext {
  readonly tools: ToolCalls;
  readonly seen: RunCatalog;
  /** The limits of each script, and of all their calls together with those of the run. */
  readonly limits: Limits;
  readonly patienceMs: number;
  readonly client: RunClient;
  /** The contract of the run's own program; absent if no script can be written for it. */
  readonly contract?: ScriptProfile | undefined;
  /** Present if the run's own program is a classic script. */
  readonly script?: Pick<ScriptRequest, 'allowedServers' | 'onCall' | 'callScript'> | undefined;
}

/**
 * Answers the calls of modules and classic scripts: of a run's own program, or of a stored script that a program of any contract
 * runs. A stored script writes calls and gets answers as its own contract prescribes, whatever the run's is.
 */
export class ProgramCalls implements ProgramAnswerer {
  readonly nested: NestedRuns;
  readonly classic: ScriptCalls;
  readonly #parts: ProgramCallsParts;
  readonly #context: ProgramCallsContext;

  constructor(parts: ProgramCallsParts, context: ProgramCallsContext, before?: NestedSoFar) {
    this.#parts = parts;
    this.#context = context;
    const { sandbox, scripts, turns, suspended, catalog } = parts;
    const { tools, seen, limits, patienceMs, client, script } = context;
    const { maxToolCalls } = limits;
    this.classic = new ScriptCalls(tools, {
      tools: seen,
      catalog,
      maxToolCalls,
      allowedServers: script?.allowedServers ?? [],
      ...omitUndefined({ onCall: script?.onCall }),
    });
    const decisions = new BrokerDecisions({ tools, seen, suspended, sandbox, scripts, turns, maxToolCalls });
    const modules = (functions: Parameters<typeof modulesWith>[1]) => modulesWith(seen.snapshot, functions);
    const options = { scripts, turns, sandbox, limits, calls: this, patienceMs, client, modules, decisions };
    this.nested = new NestedRuns(options, before);
  }

  /** The run's own program as one that asks. */
  ownAsker(): Asker {
    const { tools, contract } = this.#context;
    return { context: tools.own.run, depth: 0, firstNumber: 0, contract };
  }

  async answerFor(asker: Asker, call: GuestCall, given: RunCallDelegate): Promise<CallReply> {
    const parse = () => JSON.parse(call.argumentsJson) as JsonValue[];
    const { caller } = asker.context;
    const { input, delegate } = await this.#parts.turns.inSteps(caller, call.argumentsJson, given, parse);
    return this.answer(call, input, delegate, asker);
  }

  /** Answers a call whose arguments have been parsed. */
  async answer(
    call: GuestCall,
    input: readonly JsonValue[],
    delegate: RunCallDelegate,
    asker: Asker,
  ): Promise<CallReply> {
    const numbered = asker.firstNumber === 0 ? call : { ...call, number: asker.firstNumber + call.number };
    return asker.contract === 'code_execution'
      ? this.#answerClassic(numbered, input, delegate, asker)
      : this.#answerModule(numbered, input, delegate, asker);
  }

  /** Runs a stored script that was called as a tool. Undefined: the tool is a server's. */
  runAsTool(
    found: CatalogTool | undefined,
    { number }: Pick<GuestCall, 'number'>,
    given: readonly JsonValue[],
    delegate: RunCallDelegate,
    asker: Asker,
  ): Promise<CallReply> | undefined {
    if (found?.server.holdsScripts !== true) return undefined;
    const { tool } = found;
    const { form } = this.#by(asker);
    const [input] = form.arrange?.(tool, given) ?? given;
    return this.nested.answerAsTool({ tool, number, input }, delegate, asker, form);
  }

  async #answerModule(
    call: GuestCall,
    input: readonly JsonValue[],
    delegate: RunCallDelegate,
    asker: Asker,
  ): Promise<CallReply> {
    const { results, suspended, turns, gate } = this.#parts;
    const { tools, seen } = this.#context;
    const { ledger, runId } = asker.context;
    if (isDiscovery(call.target)) return this.#answerAbout(call, input, delegate, asker);
    if (isScripts(call.target)) return this.nested.answer(call.target, input, delegate, asker, call.number);
    if (isResults(call.target)) {
      const onReceived = (received: ReceivedData | 'unknown') =>
        received === 'unknown' ? gate.receivedUnknown(ledger) : ledger.received.receiveAll(received);
      const { signal, remainingMs } = delegate;
      const onFailedRun = tools.noteFailedRun.bind(tools);
      const { awaited } = tools.own.form;
      const context = { runId, suspended, turns, signal, remainingMs, onReceived, onFailedRun, awaited };
      return results.answer(call.target, input, asker.context, context);
    }
    const by = this.#by(asker);
    const found = seen.snapshot.toolByTarget.get(call.target);
    const forbidden = await this.classic.endAtForbidden(found, call, delegate, by);
    if (forbidden !== undefined) return forbidden;
    const script = this.runAsTool(found, call, input, delegate, asker);
    return script ?? tools.callTool(call, input, delegate, by);
  }

  /** Answers questions about the tools that a program sees. */
  async #answerAbout(
    { target, argumentsJson }: GuestCall,
    input: readonly JsonValue[],
    { signal }: RunCallDelegate,
    { context: { caller, profile }, contract }: Asker,
  ): Promise<CallReply> {
    const { catalog, observed, scripts, turns } = this.#parts;
    const { seen } = this.#context;
    const tooLong = questionTooLong(argumentsJson);
    if (tooLong !== undefined) return { ok: false, error: tooLong };
    await seen.fillIn(serverAskedAbout(input, seen.snapshot));
    const isSearch = target === SEARCH_TOOLS;
    const typeOf = (tool: Tool) => observed?.typeOf({ caller, profile: contract ?? profile }, tool);
    const answered = await turns.take(caller, signal, async () => {
      const kept = isSearch ? await scripts.callable() : [];
      if (isSearch && isAboutScripts(input)) return withScripts(noTools(input), input, kept);
      return withScripts(answerDiscovery(target, input, seen.snapshot, catalog, typeOf), input, kept);
    });
    return answered ?? PROGRAM_ENDED;
  }

  /** Answers a classic script's call: to a tool, or to a stored script, whose outcome is also returned as a value. */
  async #answerClassic(
    call: GuestCall,
    input: readonly JsonValue[],
    delegate: RunCallDelegate,
    asker: Asker,
  ): Promise<CallReply> {
    const by = this.#by(asker);
    const callScript = (asker.depth === 0 ? this.#context.script?.callScript : undefined) ?? CLASSIC_CALLS.script;
    if (call.target === callScript) {
      const reply = await this.nested.answer(RUN_SCRIPT, input, delegate, asker, call.number);
      if (reply.ok) return { ok: true, json: `{"ok":true,"result":${String(reply.json)}}` };
      return 'ends' in reply ? reply : by.form.present({ ok: false, error: reply.error });
    }
    const runScript = ({ tool }: CatalogTool, given: JsonValue | undefined) =>
      this.nested.answerAsTool({ tool, number: call.number, input: given }, delegate, asker, by.form);
    return this.classic.answer(call, input, delegate, by, runScript);
  }

  /** A program of the run's own contract writes calls as the run's own program does. */
  #by({ context: run, contract }: Asker): CallingProgram {
    const { tools } = this.#context;
    const isOwn = contract === undefined || contract === this.#context.contract;
    return { run, form: isOwn ? tools.own.form : this.#formOf(contract, run.caller) };
  }

  #formOf(contract: ScriptProfile, caller: CallingProgram['run']['caller']): CallForm {
    const { presentations, observed } = this.#parts;
    const presentation = presentations[contract];
    return {
      present: (outcome) => presentation.reply(outcome),
      observe: (tool, value) =>
        observed?.observe({ caller, profile: contract }, tool, presentation.seen?.(value) ?? value),
    };
  }
}

/** The answer if only scripts are searched. */
function noTools([query = null]: readonly JsonValue[]): CallReply {
  return { ok: true, json: JSON.stringify({ query, results: [] }) };
}
