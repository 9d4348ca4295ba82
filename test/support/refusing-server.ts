import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * An MCP server over HTTP whose tools answer with what servers answer under load: `busy` with 429, `away` and `away_write` with
 * 503, `lost` by closing the connection; `full_once` with 429 the first time; `garbled` and `half` with an event that is not an answer, in
 * a stream that stays open. The same over plain HTTP under `/api`, as `document` describes it.
 */
export async function startRefusingServer() {
  const seen = new Set<string>();
  const server = createServer((request, response) => void answer(request, response, seen));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    document: documentOf(`${origin}/api`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const TOOLS = ['busy', 'away', 'away_write', 'lost', 'full_once', 'garbled', 'half'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
  ...(name === 'away_write' ? {} : { annotations: { readOnlyHint: true } }),
}));

async function answer(request: IncomingMessage, response: ServerResponse, seen: Set<string>): Promise<void> {
  if (request.url === '/api/busy') return refuse(response, 'busy');
  if (request.url === '/api/away') return refuse(response, 'away');
  if (request.method !== 'POST') return void response.writeHead(405).end();
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { id, method, params } = JSON.parse(body) as {
    id?: number;
    method: string;
    params?: { name?: string; protocolVersion?: string };
  };
  if (id === undefined) return void response.writeHead(202).end();
  const reply = (result: object) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (method === 'initialize')
    return reply({
      protocolVersion: params?.protocolVersion ?? '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'refusing', version: '1' },
    });
  if (method === 'tools/list') return reply({ tools: TOOLS });
  const { name = '' } = params ?? {};
  if (method === 'tools/call' && name in GARBLED)
    return void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write(`event: message\ndata: ${GARBLED[name]?.(id)}\n\n`);
  if (name === 'full_once' && seen.has(name)) return reply({ content: [{ type: 'text', text: 'there is room' }] });
  seen.add(name);
  if (method === 'tools/call') return refuse(response, name);
  reply({});
}

const GARBLED: Readonly<Record<string, (id: number) => string>> = {
  garbled: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: null }),
  half: (id) => `{"jsonrpc":"2.0","id":${id},"result":{"conte`,
};

function refuse(response: ServerResponse, name: string): void {
  if (name === 'lost') response.destroy();
  else if (name === 'full_once') response.writeHead(429, { 'retry-after': '1' }).end('slow down');
  else if (name === 'busy') response.writeHead(429, { 'retry-after': '7' }).end('slow down');
  else response.writeHead(503, { 'retry-after': '3' }).end('back soon');
}

function documentOf(baseUrl: string): object {
  const operation = (operationId: string) => ({
    get: { operationId, responses: { 200: { description: 'ok' } } },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'refusing', version: '1' },
    servers: [{ url: baseUrl }],
    paths: { '/busy': operation('busy'), '/away': operation('away') },
  };
}
