import { toolDigestOf } from '../../broker/approvals/identity.js';
import type { Broker, BrokerOutcome } from '../../broker/broker.js';
import { methodOf } from '../../catalog/namespaces.js';
import type { CatalogSnapshot, CatalogTool } from '../../catalog/snapshot.js';
import type { JsonValue } from '../../domain/json.js';
import { needsOf } from '../../domain/profile-name.js';
import type { CallReply, Failure, GuestCall } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { TypeCheckGate } from '../check/type-check-gate.js';
import { type RecordedCall, recordedCall } from '../recordings/recorded-call.js';
import type { RunNotes } from '../recordings/run-notes.js';
import { isResults } from '../runs/kept-results.js';
import type { CallAnswerer, RunCallDelegate, RunClient } from '../runs/run.js';
import type { RunCatalog } from '../runs/run-catalog.js';
import type { Presentation, RunFacts, ScriptRequest } from '../runs/run-types.js';
import type { NestedRuns, NestedSoFar } from '../scripts/nested-runs.js';
import { ProgramCalls, type ProgramCallsParts } from '../scripts/program-calls.js';
import { isDiscovery } from '../tools/discovery.js';
import type { ProgramNames } from './called-tool.js';
import { type CallsSoFar, ToolCalls } from './tool-calls.js';

export interface RunCallsParts extends ProgramCallsParts {
  readonly broker: Broker;
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
export class RunCalls implements CallAnswerer {
  readonly tools: ToolCalls;
  readonly #programs: ProgramCalls;
  readonly #recorded: Map<number, RecordedCall>;
  #verdict: TypeCheckGate | undefined;
  readonly #parts: RunCallsParts;
  readonly #context: RunCallsContext;

  constructor(parts: RunCallsParts, context: RunCallsContext, before?: RunCallsSoFar) {
    this.#parts = parts;
    this.#context = context;
    const { broker, observed } = parts;
    const { facts, seen, presentation, client, patienceMs, script } = context;
    const { context: run, limits } = facts;
    const { maxToolCalls } = limits;
    const present = (outcome: BrokerOutcome) => presentation.reply(outcome);
    const { program } = needsOf(run.profile);
    this.tools = new ToolCalls(
      {
        run,
        seen,
        broker,
        maxToolCalls,
        present,
        ...omitUndefined({ arrange: presentation.arrange, awaited: presentation.awaited }),
        // A function body sees tools as methods of an object.
        ...(program === 'body' ? { namesOf: (tool) => methodNames(tool, seen.snapshot) } : {}),
        ...(script === undefined ? {} : { namesOf: scriptNames }),
        // A script gets an envelope around the answer.
        ...(script === undefined || presentation.seen !== undefined
          ? { observe: (tool, value) => observed?.observe(run, tool, presentation.seen?.(value) ?? value) }
          : {}),
        client,
      },
      before?.soFar,
    );
    const contract = script === undefined ? (program === 'module' ? 'codemode' : undefined) : 'code_execution';
    const programs = { tools: this.tools, seen, limits, patienceMs, client, script, contract } as const;
    this.#programs = new ProgramCalls(parts, programs, before?.nested);
    this.#recorded = new Map(before?.recorded.map((each) => [each.number, each]));
  }

  get nested(): NestedRuns {
    return this.#programs.nested;
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
    const { input, delegate } = await this.#read(call, given);
    const { seen, script } = this.#context;
    const { classic } = this.#programs;
    if (script !== undefined) await classic.awaitServer(input);
    const stopped = this.#verdict === undefined ? undefined : await this.#stopped(call, this.#verdict);
    if (stopped !== undefined) return { ok: false, ends: stopped };
    const found = script === undefined ? seen.snapshot.toolByTarget.get(call.target) : classic.toolOf(input);
    // A script has no digest of its own: what it calls is pinned with it.
    const tool = found?.server.holdsScripts === true ? undefined : found?.tool;
    this.#recorded.set(call.number, recordedCall(call, tool && toolDigestOf(tool)));
    return this.#programs.answer(call, input, delegate, this.#programs.ownAsker());
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

  /** Parses the arguments. Large ones are parsed, checked and sent in turns of the event loop of their own. */
  async #read(call: GuestCall, delegate: RunCallDelegate) {
    const { caller } = this.#context.facts.context;
    return this.#parts.turns.inSteps(caller, call.argumentsJson, delegate, () => inputOf(call));
  }
}

function methodNames(tool: CatalogTool, snapshot: CatalogSnapshot): ProgramNames {
  const { namespace, method } = methodOf(tool, snapshot);
  return { serverName: namespace, exportName: method };
}

/** A script writes the user's name for the server and the tool's own name. */
function scriptNames({ server, tool }: CatalogTool): ProgramNames {
  return { serverName: server.id, exportName: tool.name };
}

function inputOf({ argumentsJson }: GuestCall): JsonValue[] {
  return JSON.parse(argumentsJson) as JsonValue[];
}
