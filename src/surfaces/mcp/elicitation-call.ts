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

/** Questions that come together are asked together. */
const GATHER_MS = 20;
const PLAIN_NAME = /^[a-z]\w{0,63}$/i;

interface OpenQuestion {
  readonly kind: QuestionKind;
  readonly request: ClientQuestion;
  readonly answer: Deferred<JsonObject>;
}

export type CallResult = CallToolResult | InputRequiredResult;

/** What is done for a call knows of its client. */
export interface CallSide {
  /** Whatever else ends it: the client withdrew its request, or does not come back. */
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly respondent: Respondent;
  /** Puts a form of ours before the client's user; absent where the client says that it shows none. */
  readonly showForm?: ShowForm;
  /** Aborted when the request that it came with was answered, and it continues. Nothing more is told along with that. */
  readonly requestAnswered?: AbortSignal;
  /** The step of a trace that the call is. */
  readonly trace?: TraceContext;
}

/** One call of the newer era over all its rounds: what servers ask on the way, and its result in the end. */
export class ElicitationCall {
  readonly id = randomUUID();
  /** How many there were. */
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

  /** `mayWait`: whether there is room for one more call that waits for its client. */
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
    // Nobody may be there when it fails; who comes for it sees it.
    this.#result.catch(() => {});
  }

  end(): void {
    this.#ended.abort();
  }

  /** Whether answers from there are as good as from where it began: what a person is asked, a person answers. */
  isAnsweredBy({ person }: AskedClient): boolean {
    return this.#client.person === undefined || person !== undefined;
  }

  /** What the client says to the questions. What is not an answer leaves its question open. */
  take(responses: Readonly<Record<string, unknown>> = {}): void {
    for (const [name, { kind, answer }] of this.#open) {
      const response = Object.hasOwn(responses, name) ? responses[name] : undefined;
      if (!isAnswerTo(kind, response)) continue;
      this.#open.delete(name);
      answer.resolve(response);
    }
  }

  /** Until the result, or until there is something to ask. Whatever aborts the round meanwhile ends the call. */
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
        // It may have been taken back in the meantime.
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

  /** Waits until the client has come back with an answer. */
  async #put(kind: QuestionKind, request: ClientQuestion, name: string, signal: AbortSignal): Promise<JsonObject> {
    if (!this.#mayWait()) throw new HostError('sandbox_busy', 'too many calls wait for their clients; ask again later');
    const answer = deferred<JsonObject>();
    const giveUp = (reason: string) => answer.reject(new HostError('cancelled', reason));
    const withdraw = () => giveUp('the question is of no more use');
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

  /** The server's own name for it, where that is a plain one and is not taken. */
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
