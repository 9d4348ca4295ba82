import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { ExecuteSettings } from '../../profiles/unified/execute.js';
import { errorSchema, executeInputSchema, executeOutputSchema } from '../../profiles/unified/tool-schemas.js';

/** The REST surface, described for machines: OpenAPI 3.1. */
export function openApiDocument({ limits }: ExecuteSettings, version: string, more: JsonObject): JsonObject {
  const error = { $ref: '#/components/schemas/Error' };
  const refusals = (...statuses: number[]): JsonObject =>
    Object.fromEntries(statuses.map((status) => [String(status), answer(REFUSALS[status] ?? 'refused', error)]));
  const run = { type: 'object', properties: { runId: { type: 'string' }, state: { type: 'string' } } };
  const id = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  const decide = (summary: string, operationId: string): JsonObject => ({
    post: {
      summary,
      operationId,
      parameters: id,
      responses: { 200: answer('the question, decided', { type: 'object' }), ...refusals(400, 401, 403, 404) },
    },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'codemode', version, description: 'Runs code that calls tools, in a sandbox.' },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] }],
    paths: {
      '/execute': {
        post: {
          summary: 'Run the body of a function',
          operationId: 'execute',
          requestBody: { required: true, content: json({ $ref: '#/components/schemas/ExecuteRequest' }) },
          responses: {
            200: answer('it has run, whatever became of it', { $ref: '#/components/schemas/ExecuteResponse' }),
            202: answer('it waits for a person', { $ref: '#/components/schemas/ExecuteResponse' }),
            ...refusals(400, 401, 403, 413, 503),
          },
        },
      },
      ...more,
      '/tools': {
        get: {
          summary: 'The tools by namespace',
          operationId: 'listTools',
          responses: { 200: answer('namespaces', { type: 'object' }), ...refusals(401, 403) },
        },
      },
      '/runs': {
        get: {
          summary: 'Runs of the caller',
          operationId: 'listRuns',
          responses: {
            200: answer('runs', { type: 'object', properties: { runs: { type: 'array', items: run } } }),
            ...refusals(401, 403),
          },
        },
      },
      '/runs/{id}': {
        get: {
          summary: 'One run, with its response',
          operationId: 'showRun',
          parameters: id,
          responses: { 200: answer('the run', run), ...refusals(401, 403, 404) },
        },
      },
      '/runs/{id}/cancel': {
        post: {
          summary: 'End a run',
          operationId: 'cancelRun',
          parameters: id,
          responses: { 200: answer('the run', run), ...refusals(400, 401, 403, 404) },
        },
      },
      '/approvals': {
        get: {
          summary: 'Calls that wait for a person; needs the scope approve',
          operationId: 'listApprovals',
          responses: { 200: answer('questions', { type: 'object' }), ...refusals(401, 403) },
        },
      },
      '/servers': {
        get: {
          summary: 'Servers and how they are; needs the scope servers',
          operationId: 'listServers',
          responses: { 200: answer('servers', { type: 'object' }), ...refusals(401, 403) },
        },
        post: {
          summary: 'Add a server, in the words of the configuration with its name; needs the scope servers',
          operationId: 'registerServer',
          requestBody: {
            required: true,
            content: json({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }),
          },
          responses: { 201: answer('how it is', { type: 'object' }), ...refusals(400, 401, 403) },
        },
      },
      '/servers/{name}': {
        delete: {
          summary: 'Take a server away; needs the scope servers',
          operationId: 'unregisterServer',
          parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 204: { description: 'it is gone' }, ...refusals(401, 403, 404) },
        },
      },
      '/approvals/{id}/approve': decide('Allow a call', 'approve'),
      '/approvals/{id}/deny': decide('Refuse a call', 'deny'),
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: {
        ExecuteRequest: executeInputSchema(limits),
        ExecuteResponse: executeOutputSchema(),
        Error: {
          type: 'object',
          properties: { error: errorSchema(), requestId: { type: 'string' } },
          required: ['error', 'requestId'],
        },
      },
    },
  };
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'the request is not valid',
  401: 'no token, or not a good one',
  403: 'the token is not good for this, or the capabilities are too many',
  404: 'there is no such thing',
  413: 'the body is too large',
  503: 'no room; try again after the time in Retry-After',
};

function answer(description: string, schema: JsonValue): JsonObject {
  return { description, content: json(schema) };
}

function json(schema: JsonValue): JsonObject {
  return { 'application/json': { schema } };
}
