// An HTTP API with an OpenAPI document as a server: no code for it, its operations are typed functions.
//   node openapi.mjs
import { createServer } from 'node:http';
import { createHost } from 'codemode';

// Stands for an API somewhere else. Yours has a document already.
const api = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const books = [
    { id: 1, title: 'Emma', year: 1815 },
    { id: 2, title: 'Ulysses', year: 1922 },
  ];
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(pathname === '/openapi.json' ? document : books));
});
const document = {
  openapi: '3.1.0',
  info: { title: 'Books', version: '1.0' },
  paths: {
    '/books': {
      get: {
        operationId: 'listBooks',
        summary: 'All books',
        responses: {
          200: {
            description: 'books',
            content: {
              'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Book' } } },
            },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Book: {
        type: 'object',
        required: ['id', 'title', 'year'],
        properties: { id: { type: 'integer' }, title: { type: 'string' }, year: { type: 'integer' } },
      },
    },
  },
};
await new Promise((resolve) => api.listen(0, '127.0.0.1', () => resolve(undefined)));
const { port } = /** @type {import('node:net').AddressInfo} */ (api.address());

const host = await createHost({
  config: { mcpServers: { library: { openapi: `http://127.0.0.1:${port}/openapi.json` } } },
});
const { result } = await host.run(`
  import { listBooks } from '@codemode/servers/library';
  const books = await listBooks();
  globalThis.__codemode_result__ = books.filter(({ year }) => year > 1900).map(({ title }) => title);
`);
console.log(JSON.stringify(result));
await host.close();
api.close();
