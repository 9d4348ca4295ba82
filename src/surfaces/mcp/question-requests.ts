import { randomBytes } from 'node:crypto';
import { type CallToolResult, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import type { AskedClient } from './asked-client.js';
import { QUESTION_TIMEOUT_MS } from './client-question.js';
import { type CallResult, type CallSide, ElicitationCall } from './elicitation-call.js';
import { Progress } from './progress.js';
import { type RequestStates, requestStateOf, requestStates } from './request-state.js';

/** Calls of all callers that wait for their client's answer. */
const MAX_WAITING = 4_000;
/** Limit for one caller, if no quota is set. */
const MAX_WAITING_OF_CALLER = 256;
/** A client that has not come back after this time will not: its call is cancelled. Questions expire earlier. */
const FORGET_MS = QUESTION_TIMEOUT_MS + 60_000;

/**
 * In the protocol's newer era the host sends no requests to clients: a call is answered with a server's question and continues in
 * the background. The client repeats the call with its answer to get the result.
 */
export class QuestionRequests {
  /** Signs the state that clients carry from one round of a call to the next. */
  readonly states: RequestStates;
  readonly #waiting = new Map<string, { readonly call: ElicitationCall; readonly timer: NodeJS.Timeout }>();

  /** Calls that have asked a question and are not over. */
  readonly #asking = new Set<ElicitationCall>();
  readonly #mostOfCaller: number;

  /** `key`: shared by all hosts that accept each other's rounds. By default a random one, if every round comes to this process. */
  constructor(key: Uint8Array = randomBytes(32), mostOfCaller = MAX_WAITING_OF_CALLER) {
    this.states = requestStates(key);
    this.#mostOfCaller = mostOfCaller;
  }

  /** Starts a call, or continues the call that this is a later round of, until its result or its next question. */
  async answer(
    context: ServerContext,
    client: AskedClient,
    work: (side: CallSide) => Promise<CallResult>,
  ): Promise<CallResult> {
    const { caller } = client;
    const round = requestStateOf(context);
    const isLater = round?.call !== undefined;
    using _progress = isLater ? Progress.of(context) : undefined;
    const known = this.#waiting.get(round?.call ?? '');
    if (isLater && (round.caller !== caller || known?.call.isAnsweredBy(client) !== true)) return REQUEST_IS_OVER;
    const call: ElicitationCall = known?.call ?? new ElicitationCall(client, context, () => this.#mayAsk(call));
    if (known === undefined) call.begin(work);
    else call.take(context.mcpReq.inputResponses);
    const step = await call.step([context.mcpReq.signal, context.http?.req?.signal]);
    clearTimeout(this.#waiting.get(call.id)?.timer);
    this.#waiting.delete(call.id);
    if (step !== 'asks') {
      this.#asking.delete(call);
      return step;
    }
    const timer = setTimeout(() => {
      this.#waiting.delete(call.id);
      this.#asking.delete(call);
      call.end();
    }, FORGET_MS).unref();
    this.#waiting.set(call.id, { call, timer });
    const requestState = await this.states.mint({ call: call.id, number: ++call.rounds, caller }, context);
    return inputRequired({ inputRequests: call.inputRequests() as never, requestState });
  }

  /** Counted when the call asks, not when its client is told: concurrent calls must not all take the same last slot. */
  #mayAsk(call: ElicitationCall): boolean {
    if (this.#asking.has(call)) return true;
    const own = [...this.#asking].filter(({ caller }) => caller === call.caller).length;
    if (own >= this.#mostOfCaller || this.#asking.size >= MAX_WAITING) return false;
    this.#asking.add(call);
    return true;
  }

  /** No client comes back after this. */
  close(): void {
    for (const { call, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      call.end();
    }
    this.#waiting.clear();
  }
}

export const REQUEST_IS_OVER: CallToolResult = {
  content: [
    { type: 'text', text: 'this round has ended, because its call ended or was cancelled; make the call again' },
  ],
  isError: true,
};
