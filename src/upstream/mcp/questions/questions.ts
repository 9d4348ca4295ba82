import { AsyncLocalStorage } from 'node:async_hooks';
import { type Client, type ClientCapabilities, METHOD_NOT_FOUND, ProtocolError } from '@modelcontextprotocol/client';
import { isHostError } from '../../../domain/errors.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Audience, QuestionKind, Respondent } from '../../../domain/question.js';
import { QUESTION_KINDS } from '../../../domain/question.js';
import type { StopSignal } from '../../../domain/stop-signal.js';
import { LinkedAbort } from '../../../lib/async/linked-abort.js';
import { CallClock } from '../calls/call-clock.js';
import { type OpenCall, OpenCalls } from '../calls/open-calls.js';
import { OpenQuestions } from './open-questions.js';

/** A server that asks more questions during one call never intends to answer it. */
const MAX_PER_CALL = 50;
/** A picture for a model fits. A form for a person is far smaller. */
const MAX_CHARACTERS: Readonly<Record<QuestionKind, number>> = {
  sampling: 4_000_000,
  elicitation: 100_000,
  roots: 10_000,
};
const REFUSED = -32_000;

const METHODS = {
  sampling: 'sampling/createMessage',
  elicitation: 'elicitation/create',
  roots: 'roots/list',
} as const;

/** The call whose own stream a message arrives on, if the transport has a stream for each call. */
const streamOf = new AsyncLocalStorage<OpenCall>();

/**
 * The questions that one server asks while it works. A question goes to the client that the server works for, and to nobody if that
 * is not certain: the question of one user is never shown to another.
 *
 * It is certain if the question is part of a call's answer (the newer era), if it arrives on a call's own stream (Streamable HTTP),
 * or if every call in flight on this connection belongs to one client (a pipe, a socket, a shared stream).
 */
export class Questions {
  readonly #upstream: string;
  readonly #audience: Audience;
  /** Whether each request has its own response stream. */
  readonly #hasStreams: boolean;
  readonly #calls = new OpenCalls();
  readonly #open = new OpenQuestions();

  constructor(upstream: string, audience: Audience, hasStreams: boolean) {
    this.#upstream = upstream;
    this.#audience = audience;
    this.#hasStreams = hasStreams;
  }

  /** The capabilities that we announce to the server. */
  capabilities(): ClientCapabilities {
    const announced = this.#audience.announced();
    return {
      ...(announced.includes('sampling') ? { sampling: { tools: {} } } : {}),
      ...(announced.includes('elicitation') ? { elicitation: { form: {}, url: {} } } : {}),
      ...(announced.includes('roots') ? { roots: {} } : {}),
    };
  }

  /** Answers the announced kinds of questions, and everything else with an error that says why. */
  install(client: Client): void {
    const announced = this.#audience.announced();
    for (const kind of QUESTION_KINDS) {
      if (!announced.includes(kind)) continue;
      // The library checks the answer against the protocol's schema, so the cast is safe.
      client.setRequestHandler(METHODS[kind], (request, { mcpReq }) => {
        const call = this.#hasStreams ? streamOf.getStore() : undefined;
        return this.#ask(kind, request.params as JsonObject | undefined, mcpReq.signal, call) as never;
      });
    }
    client.fallbackRequestHandler = async ({ method }) => {
      throw new ProtocolError(
        METHOD_NOT_FOUND,
        `this client does not answer ${method}; it was not among the capabilities it announced`,
      );
    };
  }

  /** Makes a call. The server's questions during the call go to this client only. */
  async during<Result>(
    respondent: Respondent | undefined,
    timeoutMs: number,
    work: (call: OpenCall) => Promise<Result>,
  ): Promise<Result> {
    const call = this.#calls.begin(respondent, new CallClock(timeoutMs));
    try {
      return await (this.#hasStreams ? streamOf.run(call, work, call) : work(call));
    } finally {
      call.clock.end();
      this.#calls.end(call);
    }
  }

  /** Answers the questions that came as the answer to a call, under the names that the server gave them. */
  async answerAll(inputRequests: unknown, call: OpenCall): Promise<JsonObject> {
    const requests = Object.entries((inputRequests ?? {}) as Record<string, { method?: unknown; params?: unknown }>);
    const round = new AbortController();
    try {
      const answers = requests.map(async ([name, { method, params } = {}]) => {
        const kind = QUESTION_KINDS.find((each) => METHODS[each] === method);
        if (kind === undefined)
          throw new ProtocolError(REFUSED, `it asks for ${JSON.stringify(method)}, which is not a known request`);
        return [name, await this.#ask(kind, params as JsonObject | undefined, round.signal, call, name)] as const;
      });
      return Object.fromEntries(await Promise.all(answers));
    } catch (error) {
      throw new ProtocolError(REFUSED, `its question was not answered: ${messageOf(error)}`);
    } finally {
      // If one question has no answer, the others are useless.
      round.abort();
    }
  }

  async #ask(
    kind: QuestionKind,
    params: JsonObject = {},
    signal: AbortSignal,
    call: OpenCall | undefined,
    name?: string,
  ): Promise<JsonObject> {
    const { _meta: _, task: __, ...rest } = params;
    const characters = JSON.stringify(rest).length;
    if (characters > MAX_CHARACTERS[kind])
      throw refusal(`a question of this kind may have ${MAX_CHARACTERS[kind]} characters; ask a shorter one`);
    const { respondent, calls, over } = this.#whoIsAsked(kind, call);
    const answered = this.#open.enter(respondent.caller, characters);
    if (typeof answered === 'string') throw refusal(answered);
    const [asks] = calls;
    if (asks !== undefined) asks.questions += 1;
    const until = new LinkedAbort([signal, over]);
    for (const { clock } of calls) clock.hold();
    try {
      const question = { upstream: this.#upstream, kind, params: rest, signal: until.signal };
      return await respondent.answer(name === undefined ? question : { ...question, name });
    } catch (error) {
      const code = isHostError(error, 'not_found') ? METHOD_NOT_FOUND : REFUSED;
      throw new ProtocolError(code, messageOf(error));
    } finally {
      answered();
      for (const { clock } of calls) clock.go();
      until.release();
    }
  }

  #whoIsAsked(kind: QuestionKind, ofStream: OpenCall | undefined): Asked {
    const only = this.#audience.onlyClient();
    if (kind === 'roots' && only !== undefined && this.#calls.isIdle) return { respondent: only, calls: [] };
    const found = ofStream === undefined ? this.#calls.ofOneClient() : ofCall(ofStream);
    if (found === 'none') throw refusal('no call is in progress that this question could belong to; ask during a call');
    if (found === 'several')
      throw refusal(
        'calls of several clients are in progress, and the question may belong to any of them; ask again later',
      );
    const { calls, over } = found;
    const [call] = calls;
    if (over?.aborted === true) throw refusal('the call that this was asked for has ended');
    if (call.respondent === undefined) throw refusal('the client of this call cannot be asked');
    if (call.questions >= MAX_PER_CALL) throw refusal(`at most ${MAX_PER_CALL} questions are answered in one call`);
    return { respondent: call.respondent, calls, over };
  }
}

interface Asked {
  readonly respondent: Respondent;
  /** The calls it may be about. Their clocks stop until there is an answer. */
  readonly calls: readonly OpenCall[];
  /** Aborted when the answer is no longer needed. */
  readonly over?: StopSignal | undefined;
}

function ofCall(call: OpenCall): { calls: [OpenCall]; over: StopSignal } {
  return { calls: [call], over: call.over };
}

function refusal(message: string): ProtocolError {
  return new ProtocolError(REFUSED, message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
