import { type Client, type ClientCapabilities, METHOD_NOT_FOUND, ProtocolError } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../domain/json.js';
import type { UpstreamRequestHandler, UpstreamRequestHandlers } from '../../domain/upstream.js';

/** More questions at once than this is a server gone wild. */
const MAX_OPEN_REQUESTS = 16;
const TOO_MANY_REQUESTS = -32_000;

export function capabilitiesFor(handlers: UpstreamRequestHandlers): ClientCapabilities {
  return {
    ...(handlers.sample === undefined ? {} : { sampling: {} }),
    ...(handlers.elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
    ...(handlers.listRoots === undefined ? {} : { roots: {} }),
  };
}

/** Passes a server's questions on to the handlers, and answers the others with an error that says why. */
export function installHandlers(client: Client, upstream: string, handlers: UpstreamRequestHandlers): void {
  let open = 0;
  const pass =
    (handler: UpstreamRequestHandler) =>
    async (request: { params?: unknown }, context: { mcpReq: { signal: AbortSignal } }) => {
      if (open >= MAX_OPEN_REQUESTS)
        throw new ProtocolError(TOO_MANY_REQUESTS, `at most ${MAX_OPEN_REQUESTS} requests are answered at a time`);
      open += 1;
      try {
        return await handler({ upstream, params: (request.params ?? {}) as JsonObject, signal: context.mcpReq.signal });
      } finally {
        open -= 1;
      }
    };
  const { sample, elicit, listRoots } = handlers;
  // The library checks what a handler answers against the protocol's schema, so the type may be claimed here.
  if (sample !== undefined)
    client.setRequestHandler('sampling/createMessage', (request, context) => pass(sample)(request, context) as never);
  if (elicit !== undefined)
    client.setRequestHandler('elicitation/create', (request, context) => pass(elicit)(request, context) as never);
  if (listRoots !== undefined)
    client.setRequestHandler('roots/list', (request, context) => pass(listRoots)(request, context) as never);
  client.fallbackRequestHandler = async (request) => {
    throw new ProtocolError(
      METHOD_NOT_FOUND,
      `this client does not answer ${request.method}; it was not among the capabilities it announced`,
    );
  };
}
