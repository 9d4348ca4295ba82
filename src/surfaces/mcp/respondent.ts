import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Respondent } from '../../domain/question.js';
import { type Askable, askable, type ClientQuestion, clientQuestion, QUESTION_TIMEOUT_MS } from './client-question.js';
import type { ClientConnection } from './mcp-session.js';

/**
 * A client of the protocol's older era, asked by a request from the host. While the client's own request is unanswered, ours is
 * sent on its stream, which the client certainly reads.
 */
export class ClientRespondent implements Respondent {
  readonly key: string;
  readonly caller: string;
  readonly #server: Server;
  readonly #person: ClientConnection['person'];
  #context: ServerContext | undefined;

  /** `context`: that of the request which the client waits for. */
  constructor({ session, clientKey, person }: ClientConnection, server: Server, context?: ServerContext) {
    this.key = clientKey ?? session.caller;
    this.caller = session.caller;
    this.#server = server;
    this.#person = person;
    this.#context = context;
  }

  get capabilities(): JsonObject {
    return askable(this.#client);
  }

  /** The client's request was answered; its run may continue. */
  requestAnswered(): void {
    this.#context = undefined;
  }

  readonly answer: Respondent['answer'] = async (question) => {
    const request = clientQuestion(question, this.#client);
    try {
      return await this.#send(request, { signal: question.signal, timeout: QUESTION_TIMEOUT_MS });
    } catch (error) {
      throw new HostError('cancelled', `the client gave no answer: ${error instanceof Error ? error.message : error}`);
    }
  };

  get #client(): Askable {
    return { capabilities: this.#server.getClientCapabilities(), person: this.#person };
  }

  /** The library checks the answer against the protocol's schema of the method. */
  #send(request: ClientQuestion, options: { signal: AbortSignal; timeout: number }): Promise<JsonObject> {
    const send = this.#context?.mcpReq.send ?? this.#server.request.bind(this.#server);
    return send(request as never, options) as unknown as Promise<JsonObject>;
  }
}
