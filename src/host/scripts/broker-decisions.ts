import { SCRIPT_TOOLS } from '../../broker/capabilities/script-tools.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallReply } from '../../domain/run.js';
import type { StoredScript } from '../../domain/script.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { tooManyCalls } from '../calls/call-refusals.js';
import { type CallerTurns, PROGRAM_ENDED } from '../calls/caller-turns.js';
import type { ToolCalls } from '../calls/tool-calls.js';
import type { RunCatalog } from '../runs/run-catalog.js';
import type { SuspendedRuns } from '../runs/suspended-runs.js';
import { findServer } from '../tools/discovery.js';
import type { DecidedCall, ScriptDecisions } from './nested-runs.js';
import { scriptToSave } from './save-from-program.js';
import { changedPins, changedQuestion } from './script-pins.js';
import type { ScriptLibrary } from './stored-scripts.js';

export interface BrokerDecisionsOptions {
  readonly tools: ToolCalls;
  /** The tools that the run sees. */
  readonly seen: RunCatalog;
  readonly suspended: SuspendedRuns;
  readonly sandbox: Sandbox;
  readonly scripts: ScriptLibrary;
  readonly turns: CallerTurns;
  readonly maxToolCalls: number;
}

/** Passes a program's operations on stored scripts through the broker, which counts and records them and asks for approval. */
export class BrokerDecisions implements ScriptDecisions {
  readonly #options: BrokerDecisionsOptions;

  constructor(options: BrokerDecisionsOptions) {
    this.#options = options;
  }

  async refusalOf(script: StoredScript, call: DecidedCall): Promise<CallReply | undefined> {
    const { seen } = this.#options;
    for (const { server } of script.pins ?? []) await seen.fillIn(findServer(server, seen.snapshot));
    const changes = changedPins(script, seen.snapshot);
    if (changes.length === 0) return undefined;
    const reply = await this.#make('run_changed', changedQuestion(script, changes), call);
    return reply.ok ? undefined : reply;
  }

  async save(wish: JsonValue | undefined, call: DecidedCall): Promise<CallReply> {
    const { tools, turns, maxToolCalls } = this.#options;
    const { delegate, asker } = call;
    // Counted before anything is read for it: the outcome is only known after a whole recording was read.
    if (!tools.countOne()) return { ok: false, error: tooManyCalls(maxToolCalls) };
    const { context } = asker;
    const input = await turns.take(context.caller, delegate.signal, () => scriptToSave(this.#options, context, wish));
    return input === undefined ? PROGRAM_ENDED : this.#carryOut('save', input, call);
  }

  async #make(name: keyof typeof SCRIPT_TOOLS, input: JsonValue, call: DecidedCall): Promise<CallReply> {
    const { tools, maxToolCalls } = this.#options;
    if (!tools.countOne()) return { ok: false, error: tooManyCalls(maxToolCalls) };
    return this.#carryOut(name, input, call);
  }

  async #carryOut(name: keyof typeof SCRIPT_TOOLS, input: JsonValue, call: DecidedCall): Promise<CallReply> {
    const { tools } = this.#options;
    const { number, delegate, asker } = call;
    const outcome = await tools.carryOut(SCRIPT_TOOLS[name], { number }, input, delegate, asker.context);
    if (!outcome.ok) return { ok: false, error: outcome.error };
    return { ok: true, json: JSON.stringify(outcome.reply.structuredContent ?? null) };
  }
}
