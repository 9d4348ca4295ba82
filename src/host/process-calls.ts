import { toolDigestOf } from '../broker/approvals/identity.js';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../catalog/snapshot.js';
import type { CallReply, GuestCall, GuestError } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import { roundedNumber } from '../lib/exact-numbers.js';
import type { CallHooks } from './execution-options.js';
import { type AnsweredCall, MAX_RECORDING_CHARACTERS, recordedCall } from './recorded-call.js';
import { ToolCalls, type ToolCallsOptions } from './tool-calls.js';
import { noSuchServer, noSuchTool } from './tool-catalog.js';

/** A call and its answer take about so much besides what is in them. */
const CALL_CHARACTERS = 100;

/** Answers a question about the tools; undefined where a target is none. */
export type AnswerAbout = (target: string, input: readonly JsonValue[]) => CallReply | undefined;

/** Everything that a program in a process of its own asks for. Its target is `server/tool`, under any name of the server. */
export class ProcessCalls {
  readonly tools: ToolCalls;
  #recorded: AnsweredCall[] | undefined = [];
  #recordedCharacters = 0;
  readonly #snapshot: CatalogSnapshot;
  readonly #answerAbout: AnswerAbout;
  readonly #present: ToolCallsOptions['present'];

  constructor(options: ToolCallsOptions, answerAbout: AnswerAbout) {
    this.tools = new ToolCalls(options);
    this.#snapshot = options.snapshot;
    this.#present = options.present;
    this.#answerAbout = answerAbout;
  }

  async answer(call: GuestCall, hooks: CallHooks): Promise<CallReply> {
    const found = toolAt(call.target, this.#snapshot);
    const isTool = 'tool' in found;
    const record: AnsweredCall = recordedCall(call, isTool ? toolDigestOf(found.tool) : undefined);
    this.#record(call.argumentsJson.length, record);
    const reply = await this.#answer(call, found, hooks);
    this.#record(reply.ok ? reply.json.length : 0);
    if (this.#recorded !== undefined) record.reply = reply;
    return reply;
  }

  /** In the order in which they were made; undefined where they were too many to be kept. */
  get recorded(): readonly AnsweredCall[] | undefined {
    return this.#recorded;
  }

  #record(characters: number, call?: AnsweredCall): void {
    this.#recordedCharacters += characters + CALL_CHARACTERS;
    if (this.#recordedCharacters > MAX_RECORDING_CHARACTERS) this.#recorded = undefined;
    if (call !== undefined) this.#recorded?.push(call);
  }

  async #answer(call: GuestCall, found: CatalogTool | GuestError, hooks: CallHooks): Promise<CallReply> {
    const input = argumentsOf(call);
    const rounded = input === undefined ? undefined : roundedNumber(call.argumentsJson);
    if (input === undefined || rounded !== undefined) {
      const error = rounded === undefined ? NO_ARGUMENTS : tooLong(rounded);
      return this.#present({ ok: false, error, verdict: 'invalid_arguments' });
    }
    const answer = this.#answerAbout(call.target, input);
    if (answer !== undefined)
      return answer.ok || 'ends' in answer ? answer : this.#present({ ok: false, error: answer.error });
    if (!('tool' in found)) return this.#present({ ok: false, error: found });
    return this.tools.answer({ ...call, target: found.target }, input, hooks);
  }
}

/** The tool that a target means. The user's own name of a server goes first, then the one of other contracts. */
function toolAt(target: string, snapshot: CatalogSnapshot): CatalogTool | GuestError {
  let nearestServer: CatalogServer | undefined;
  for (const named of [({ id }: CatalogServer) => id, ({ path }: CatalogServer) => path])
    for (const server of snapshot.servers) {
      if (!target.startsWith(`${named(server)}/`)) continue;
      nearestServer ??= server;
      const name = target.slice(named(server).length + 1);
      const found = server.tools.find(({ tool }) => tool.name === name);
      if (found !== undefined) return found;
    }
  if (nearestServer !== undefined) return noSuchTool(target.slice(target.indexOf('/') + 1), nearestServer);
  return noSuchServer(target.slice(0, Math.max(0, target.indexOf('/'))), snapshot);
}

/** The program holds the channel itself: what it sends may be anything. */
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
  message: 'the arguments are no JSON',
  hint: 'Call tools through the modules in /workspace/servers or the client in /workspace/client.',
};

/** Rounding it would ask for something else than the program did: another order, another account. */
function tooLong(digits: string): GuestError {
  const shown = digits.length > 40 ? `${digits.slice(0, 40)}...` : digits;
  return {
    errorClass: 'InvalidArguments',
    message: `the whole number ${shown} cannot be passed to a tool as it is: beyond 2^53 it would be rounded`,
    hint: 'Pass it as a string, where the tool takes one.',
  };
}
