import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { UpstreamRequest, UpstreamRequestHandler, UpstreamRequestHandlers } from '../../domain/upstream.js';

/** How a question gets to the agent's client. */
export interface Asker {
  readonly capabilities: ClientCapabilities;
  ask(method: QuestionMethod, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}

export type QuestionMethod = 'sampling/createMessage' | 'elicitation/create' | 'roots/list';

/**
 * The one client there is, when there is one: what servers ask while they work (a completion, an answer of the user, the
 * folders in use) is passed on to it. A server that is connected before a client is there is told that nobody answers.
 */
export class AgentClient implements UpstreamRequestHandlers {
  #asker: Asker | undefined;

  attach(asker: Asker): void {
    this.#asker = asker;
  }

  detach(): void {
    this.#asker = undefined;
  }

  get sample(): UpstreamRequestHandler | undefined {
    return this.#handler('sampling', 'sampling/createMessage', (params) => params);
  }

  get elicit(): UpstreamRequestHandler | undefined {
    return this.#handler('elicitation', 'elicitation/create', signed);
  }

  get listRoots(): UpstreamRequestHandler | undefined {
    return this.#handler('roots', 'roots/list', (params) => params);
  }

  #handler(
    capability: 'sampling' | 'elicitation' | 'roots',
    method: QuestionMethod,
    prepare: (params: JsonObject, request: UpstreamRequest) => JsonObject,
  ): UpstreamRequestHandler | undefined {
    if (this.#asker?.capabilities[capability] === undefined) return undefined;
    return (request) => {
      if (this.#asker === undefined) throw new HostError('cancelled', 'the client that could have answered is gone');
      const { _meta: _, ...params } = request.params;
      return this.#asker.ask(method, prepare(params, request), request.signal);
    };
  }
}

/** The user must see who asks: the text is a server's, and a server may pose as somebody else. */
function signed(params: JsonObject, { upstream }: UpstreamRequest): JsonObject {
  return { ...params, message: `${upstream} asks: ${typeof params.message === 'string' ? params.message : ''}` };
}
