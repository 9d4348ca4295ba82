import { toolDigestOf } from '../../broker/approvals/identity.js';
import { lostAnswerError } from '../../broker/refusals.js';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../../catalog/snapshot.js';
import type { JsonValue } from '../../domain/json.js';
import type { Limits } from '../../domain/limits.js';
import type { CallReply, GuestCall, GuestError } from '../../domain/run.js';
import { roundedNumber } from '../../lib/text/exact-numbers.js';
import { PROGRAM_ENDED } from '../calls/caller-turns.js';
import { ToolCalls, type ToolCallsOptions } from '../calls/tool-calls.js';
import { type AnsweredCall, MAX_RECORDING_CHARACTERS, recordedCall } from '../recordings/recorded-call.js';
import type { RunCatalog } from '../runs/run-catalog.js';
import type { CallAnswerer, RunCallDelegate } from '../runs/run-options.js';
import type { NestedRuns } from '../scripts/nested-runs.js';
import { ProgramCalls, type ProgramCallsParts } from '../scripts/program-calls.js';
import { serverNamed } from '../scripts/script-calls.js';
import { questionTooLong } from '../tools/discovery.js';
import { noSuchServer, noSuchTool, serverInQuestion } from '../tools/tool-catalog.js';
import type { Continuation, SentCall } from './continuation.js';

/** The approximate overhead of a call and its answer in the record. */
const CALL_CHARACTERS = 100;

/** Answers a question about the tools; undefined if the target is not such a question. */
export type AnswerAbout = (target: string, input: readonly JsonValue[]) => CallReply | undefined;

export interface ProcessCallsParts extends ProgramCallsParts {
  /** Limits of a stored script that the program runs. */
  readonly scriptLimits: Limits;
  /** How long a call of such a script waits for a person. */
  readonly patienceMs: number;
}

/** Answers everything that a program in its own process asks for. Its target is `server/tool`, under any name of the server. */
export class ProcessCalls implements CallAnswerer {
  readonly tools: ToolCalls;
  readonly #programs: ProgramCalls;
  #recorded: AnsweredCall[] | undefined = [];
  #recordedCharacters = 0;
  readonly #seen: RunCatalog;
  readonly #parts: ProcessCallsParts;
  readonly #answerAbout: AnswerAbout;
  readonly #present: ToolCallsOptions['present'];
  readonly #continued: Continuation | undefined;

  constructor(
    parts: ProcessCallsParts,
    options: Omit<ToolCallsOptions, 'seen'>,
    seen: RunCatalog,
    answerAbout: AnswerAbout,
    continued?: Continuation,
  ) {
    this.tools = new ToolCalls({ ...options, seen });
    const { scriptLimits: limits, patienceMs } = parts;
    const { client, present } = options;
    this.#programs = new ProgramCalls(parts, { tools: this.tools, seen, limits, patienceMs, client });
    this.#parts = parts;
    this.#seen = seen;
    this.#present = present;
    this.#answerAbout = answerAbout;
    this.#continued = continued;
  }

  /** The stored scripts that the program runs. */
  get nested(): NestedRuns {
    return this.#programs.nested;
  }

  async answer(call: GuestCall, delegate: RunCallDelegate): Promise<CallReply> {
    const found = await this.#toolAt(call.target);
    const isTool = 'tool' in found;
    const record: AnsweredCall = recordedCall(call, isTool ? toolDigestOf(found.tool) : undefined);
    this.#record(call.argumentsJson.length, record);
    const onSending = () => {
      record.isSent = true;
      return delegate.onSending();
    };
    const reused = isTool ? await this.#reuseAnswer(call, found, record, delegate) : undefined;
    const reply = reused ?? (await this.#dispatch(call, found, { ...delegate, onSending }));
    this.#record(reply.ok ? reply.json.length : 0);
    if (this.#recorded !== undefined) record.reply = reply;
    return reply;
  }

  /** Answers a call that the continued run had already made with the recorded answer. */
  async #reuseAnswer(call: GuestCall, found: CatalogTool, record: AnsweredCall, delegate: RunCallDelegate) {
    const sent = record.toolDigest === undefined ? undefined : this.#continued?.take(call, record.toolDigest);
    if (sent === undefined) return undefined;
    const [input] = argumentsOf(call) ?? [];
    if (found.server.holdsScripts === true) {
      record.isSent = true;
      return this.#reuseScriptAnswer(found, sent);
    }
    const reply = await this.tools.reuseAnswer({ ...call, target: found.target }, input, sent, delegate);
    if (reply === undefined) this.#continued?.giveBack(sent);
    else record.isSent = true;
    return reply;
  }

  /** Nobody knows any more what the script has received. A script that may have made calls is not run a second time. */
  #reuseScriptAnswer({ tool, server }: CatalogTool, { reply }: SentCall): CallReply {
    const { run } = this.tools.own;
    this.#parts.gate.receivedUnknown(run.ledger);
    const lost = { tool, serverPath: server.path, exportName: tool.name };
    return reply ?? this.#present({ ok: false, error: lostAnswerError(lost), verdict: 'outcome_unknown' });
  }

  /** In call order; undefined if there were too many calls to keep. */
  get recorded(): readonly AnsweredCall[] | undefined {
    return this.#recorded;
  }

  #record(characters: number, call?: AnsweredCall): void {
    this.#recordedCharacters += characters + CALL_CHARACTERS;
    if (this.#recordedCharacters > MAX_RECORDING_CHARACTERS) this.#recorded = undefined;
    if (call !== undefined) this.#recorded?.push(call);
  }

  async #dispatch(call: GuestCall, found: CatalogTool | GuestError, given: RunCallDelegate): Promise<CallReply> {
    const parse = () => argumentsOf(call);
    const { turns } = this.#parts;
    const { caller } = this.tools.own.run;
    const { input, delegate } = await turns.inSteps(caller, call.argumentsJson, given, parse);
    const rounded = input === undefined ? undefined : roundedNumber(call.argumentsJson);
    if (input === undefined || rounded !== undefined) {
      const error = rounded === undefined ? NO_ARGUMENTS : tooLong(rounded);
      return this.#present({ ok: false, error, verdict: 'invalid_arguments' });
    }
    await this.#seen.fillIn(serverInQuestion(input, this.#seen.snapshot));
    const tooLongQuestion = call.target.startsWith('@') ? questionTooLong(call.argumentsJson) : undefined;
    if (tooLongQuestion !== undefined) return this.#present({ ok: false, error: tooLongQuestion });
    if (call.target.startsWith('@')) {
      const work = () => ({ answer: this.#answerAbout(call.target, input) });
      const { answer } = (await turns.take(caller, delegate.signal, work)) ?? { answer: PROGRAM_ENDED };
      if (answer !== undefined)
        return answer.ok || 'ends' in answer ? answer : this.#present({ ok: false, error: answer.error });
    }
    if (!('tool' in found)) return this.#present({ ok: false, error: found });
    const script = this.#programs.runAsTool(found, call, input, delegate, this.#programs.ownAsker());
    return script ?? this.tools.callTool({ ...call, target: found.target }, input, delegate);
  }

  /** Waits for a server that was still starting when the program began. */
  async #toolAt(target: string): Promise<CatalogTool | GuestError> {
    const found = toolAt(target, this.#seen.snapshot);
    const isFilledIn = 'isStarting' in found && (await this.#seen.fillIn(found));
    const known = isFilledIn ? toolAt(target, this.#seen.snapshot) : found;
    return 'tools' in known ? noSuchTool(target.slice(target.indexOf('/') + 1), known, this.#parts.catalog) : known;
  }
}

/**
 * The tool that a target names, or the server if it has no such tool. A target names one server, by the user's name for it or else
 * by the name of other contracts: a missing or hidden tool is not looked up in another server. Server names contain no slash.
 */
function toolAt(target: string, snapshot: CatalogSnapshot): CatalogTool | CatalogServer | GuestError {
  const slash = Math.max(0, target.indexOf('/'));
  const server = serverNamed(target.slice(0, slash), snapshot);
  if (server === undefined) return noSuchServer(target.slice(0, slash), snapshot);
  const name = target.slice(slash + 1);
  return server.tools.find(({ tool }) => tool.name === name) ?? server;
}

/** The program holds the channel itself, so its messages are untrusted. */
function argumentsOf({ argumentsJson }: GuestCall): JsonValue[] | undefined {
  try {
    const value = JSON.parse(argumentsJson) as JsonValue;
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const NO_ARGUMENTS: GuestError = {
  errorClass: 'InvalidArguments',
  message: 'the arguments are not JSON',
  hint: 'Call tools through the modules in /workspace/servers or the client in /workspace/client.',
};

/** Rounding the number would request something else: another order, another account. */
function tooLong(digits: string): GuestError {
  const shown = digits.length > 40 ? `${digits.slice(0, 40)}...` : digits;
  return {
    errorClass: 'InvalidArguments',
    message: `the whole number ${shown} cannot be passed to a tool as it is: beyond 2^53 it would be rounded`,
    hint: 'Pass it as a string, where the tool takes one.',
  };
}
