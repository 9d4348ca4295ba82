import {
  INVALID_PARAMS,
  type jsonSchemaValidator,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { LOCAL_CALLER } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { callTool } from './call.js';
import type { ClientConnection } from './mcp-session.js';

const CURSOR = /^\d{1,9}$/;

/** The MCP server for one client, over any transport and in either era of the protocol. */
export function createServer(connection: ClientConnection): Server {
  const { listing, options, questions } = connection;
  const instructions = listing.instructions();
  const server = new Server(
    { name: 'codemode', title: 'codemode', version: options.version },
    {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
      jsonSchemaValidator: NO_VALIDATOR,
      requestState: { verify: questions.states.verify },
      ...omitUndefined({ instructions }),
    },
  );
  // At the first use: a client that only opens a connection does not count as seen.
  const introduce = () => {
    const { name, version } = server.getClientVersion() ?? {};
    if (name === undefined) return;
    const { caller } = connection.session;
    const transport = caller === LOCAL_CALLER ? 'stdio' : 'http';
    options.host.clientSeen({ name, version: version ?? '', transport, caller });
  };
  server.setRequestHandler('tools/list', async ({ params }) => {
    const cursor = params?.cursor;
    if (cursor !== undefined && !CURSOR.test(cursor))
      throw new ProtocolError(INVALID_PARAMS, 'this cursor is not valid; list from the start');
    const page = await listing.page(cursor);
    introduce();
    connection.onListed?.();
    return page;
  });
  server.setRequestHandler('tools/call', ({ params }, context: ServerContext) => {
    introduce();
    return callTool(connection, server, params, context);
  });
  server.setRequestHandler('resources/list', () => ({ resources: listing.resources() }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const content = await listing.read(uri);
    if (content === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [content] };
  });
  return server;
}

/**
 * The library's own validator compiles schemas to code, and foreign schemas must not do that in the host. It would only check
 * answers to our questions, and those are validated where they arrive.
 */
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};
