import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Respondent } from '../../domain/question.js';
import { askable, type ClientQuestion, clientQuestion, QUESTION_TIMEOUT_MS } from './client-question.js';

/**
 * A client of the protocol's older era: it is asked by a request of ours. While its own request is unanswered ours goes
 * along with it, on the stream that it certainly reads.
 */
export class ClientRespondent implements Respondent {
  readonly key: string;
  readonly #server: Server;
  #context: ServerContext | undefined;

  /** `context`: of the request that the client waits for. */
  constructor(key: string, server: Server, context?: ServerContext) {
    this.key = key;
    this.#server = server;
    this.#context = context;
  }

  get capabilities(): JsonObject {
    return askable(this.#server.getClientCapabilities());
  }

  /** Its request was answered, while a run of it may go on. */
  requestAnswered(): void {
    this.#context = undefined;
  }

  readonly answer: Respondent['answer'] = async (question) => {
    const request = clientQuestion(question, this.#server.getClientCapabilities());
    try {
      return await this.#send(request, { signal: question.signal, timeout: QUESTION_TIMEOUT_MS });
    } catch (error) {
      throw new HostError('cancelled', `the client gave no answer: ${error instanceof Error ? error.message : error}`);
    }
  };

  /** The library checks the answer against the protocol's schema of the method. */
  #send(request: ClientQuestion, options: { signal: AbortSignal; timeout: number }): Promise<JsonObject> {
    const send = this.#context?.mcpReq.send ?? this.#server.request.bind(this.#server);
    return send(request as never, options) as unknown as Promise<JsonObject>;
  }
}
