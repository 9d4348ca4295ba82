import { randomUUID } from 'node:crypto';
import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Question, QuestionKind, Respondent } from '../../domain/question.js';
import type { TraceContext } from '../../domain/trace.js';
import { type Deferred, deferred } from '../../lib/async/deferred.js';
import { LinkedAbort } from '../../lib/async/linked-abort.js';
import type { AskedClient, ShowForm } from './asked-client.js';
import {
  type Askable,
  askable,
  type ClientQuestion,
  clientQuestion,
  isAnswerTo,
  QUESTION_TIMEOUT_MS,
} from './client-question.js';
import { capabilitiesOf } from './request-state.js';

/** Questions that arrive within this time are asked together. */
const GATHER_MS = 20;
const PLAIN_NAME = /^[a-z]\w{0,63}$/i;

interface OpenQuestion {
  readonly kind: QuestionKind;
  readonly request: ClientQuestion;
  readonly answer: Deferred<JsonObject>;
}

export type CallResult = CallToolResult | InputRequiredResult;

/** What the work of a call knows about its client. */
export interface CallSide {
  /** Other reasons to cancel: the client cancelled its request, or does not come back. */
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly respondent: Respondent;
  /** Shows one of our forms to the client's user. Absent if the client does not support forms. */
  readonly showForm?: ShowForm;
  /** Aborted when the first request was answered and the call continues. Nothing more is sent along with that request. */
  readonly requestAnswered?: AbortSignal;
  /** The span of the call. */
  readonly trace?: TraceContext;
}

/** One call of the newer era over all its rounds: the questions of servers, and finally its result. */
export class ElicitationCall {
  readonly id = randomUUID();
  /** Number of rounds so far. */
  rounds = 0;
  readonly #key: string;
  readonly caller: string;
  readonly #client: Askable;
  readonly #mayWait: () => boolean;
  readonly #ended = new AbortController();
  readonly #firstRoundOver = new AbortController();
  readonly #open = new Map<string, OpenQuestion>();
  #asked = 0;
  #result: Promise<CallResult> | undefined;
  #question = deferred<'asks'>();
  #gathering: NodeJS.Timeout | undefined;

  /** `mayWait`: whether one more call may wait for its client. */
  constructor({ caller, clientKey, person }: AskedClient, context: ServerContext, mayWait: () => boolean) {
    this.#key = clientKey ?? this.id;
    this.caller = caller;
    this.#client = { capabilities: capabilitiesOf(context), person };
    this.#mayWait = mayWait;
  }

  begin(work: (side: CallSide) => Promise<CallResult>): void {
    const capabilities = askable(this.#client);
    const answer = (question: Question) => this.#ask(question);
    const respondent: Respondent = { key: this.#key, caller: this.caller, capabilities, answer };
    const showForm: ShowForm = (params, signal) =>
      this.#put('elicitation', { method: 'elicitation/create', params }, `approval-${++this.#asked}`, signal) as never;
    this.#result = work({
      signals: [this.#ended.signal],
      respondent,
      ...(capabilities.elicitation === undefined ? {} : { showForm }),
      requestAnswered: this.#firstRoundOver.signal,
    });
    // The call may fail while no round waits for it. The next round sees the error.
    this.#result.catch(() => {});
  }

  end(): void {
    this.#ended.abort();
  }

  /** Whether this client may answer: if the call began at a client with a person, a person must answer. */
  isAnsweredBy({ person }: AskedClient): boolean {
    return this.#client.person === undefined || person !== undefined;
  }

  /** Takes the client's answers. An invalid answer leaves its question open. */
  take(responses: Readonly<Record<string, unknown>> = {}): void {
    for (const [name, { kind, answer }] of this.#open) {
      const response = Object.hasOwn(responses, name) ? responses[name] : undefined;
      if (!isAnswerTo(kind, response)) continue;
      this.#open.delete(name);
      answer.resolve(response);
    }
  }

  /** Waits for the result or the next question. If the round is aborted, the call is cancelled. */
  async step(ofRound: readonly (AbortSignal | undefined)[]): Promise<CallResult | 'asks'> {
    const round = new LinkedAbort(ofRound);
    const end = (): void => this.end();
    round.signal.addEventListener('abort', end, { once: true });
    if (round.signal.aborted) end();
    try {
      for (;;) {
        this.#gather();
        const step = await Promise.race([this.#result as Promise<CallResult>, this.#question.promise]);
        if (step !== 'asks') return step;
        this.#question = deferred();
        // The question may have been withdrawn in the meantime.
        if (this.#open.size > 0) return 'asks';
      }
    } finally {
      // The library also aborts the signal of a request that it has answered.
      round.release();
      this.#firstRoundOver.abort();
    }
  }

  inputRequests(): JsonObject {
    return Object.fromEntries([...this.#open].map(([name, { request }]) => [name, { ...request }]));
  }

  async #ask(question: Question): Promise<JsonObject> {
    const request = clientQuestion(question, this.#client);
    return this.#put(question.kind, request, this.#nameOf(question), question.signal);
  }

  /** Waits until the client comes back with an answer. */
  async #put(kind: QuestionKind, request: ClientQuestion, name: string, signal: AbortSignal): Promise<JsonObject> {
    if (!this.#mayWait()) throw new HostError('sandbox_busy', 'too many calls wait for their clients; ask again later');
    const answer = deferred<JsonObject>();
    const giveUp = (reason: string) => answer.reject(new HostError('cancelled', reason));
    const withdraw = () => giveUp('the question is no longer needed');
    const timer = setTimeout(giveUp, QUESTION_TIMEOUT_MS, 'the client gave no answer in time');
    signal.addEventListener('abort', withdraw, { once: true });
    if (signal.aborted) withdraw();
    this.#open.set(name, { kind, request, answer });
    this.#gather();
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', withdraw);
      this.#open.delete(name);
    }
  }

  /** The server's own name for the question, if it is plain and not taken. */
  #nameOf({ name, upstream }: Question): string {
    const number = ++this.#asked;
    return name !== undefined && PLAIN_NAME.test(name) && !this.#open.has(name) ? name : `${upstream}-${number}`;
  }

  #gather(): void {
    if (this.#open.size === 0) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#question.resolve('asks');
    }, GATHER_MS);
  }
}
