import type { JsonObject } from '../../domain/json.js';
import type { Scope } from '../../domain/principal.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import type { ExecuteSettings } from '../../profiles/unified/execute.js';
import { componentSchemas, ref } from './openapi-schemas.js';

/** The REST surface, described for machines: OpenAPI 3.1. */
export function openApiDocument({ limits }: ExecuteSettings, version: string, more: JsonObject): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'codemode',
      version,
      description: 'Runs code that calls tools, in a sandbox.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] }],
    paths: {
      '/execute': {
        post: operation('execute', 'execute', 'Run the body of a function', {
          body: 'ExecuteRequest',
          answers: {
            200: answer('it has run, whether it succeeded or failed', 'ExecuteResponse'),
            202: {
              ...answer('it waits for a person; its response will be at Location', 'ExecuteResponse'),
              headers: { Location: { schema: { type: 'string' } } },
            },
          },
          // A request that was parsed and then refused gets a full ExecuteResponse. Earlier failures get an Error.
          refusals: [400, 401, 403, 413, 415, 429, 499, 503],
          refusal: { anyOf: [ref('ExecuteResponse'), ref('Error')] },
        }),
      },
      '/check': {
        post: operation('check', 'execute', 'Check the types of a program without running it', {
          body: 'CheckRequest',
          answers: { 200: answer('what its types say', 'CheckResponse') },
          refusals: [400, 401, 403, 413, 415],
        }),
      },
      '/ws': {
        get: operation(
          'connect',
          'execute',
          'A WebSocket: {id, type, payload, timestamp}, many runs, logs as they come',
          {
            answers: { 101: { description: 'messages from now on' } },
            refusals: [401, 403, 426, 429, 503],
          },
        ),
      },
      ...more,
      '/tools': {
        get: operation('listTools', 'tools', 'The tools by namespace', {
          answers: { 200: answer('namespaces', 'Namespaces') },
        }),
      },
      '/openapi.json': {
        get: operation('describe', 'tools', 'This document', {
          answers: { 200: { description: 'OpenAPI 3.1', content: json({ type: 'object' }) } },
        }),
      },
      '/runs': {
        get: operation('listRuns', 'execute', 'Runs of the caller, the newest first', {
          answers: { 200: answer('runs', 'Runs') },
        }),
      },
      '/runs/{id}': {
        get: operation('showRun', 'execute', 'One run, with its response if it has ended', {
          parameter: 'id',
          answers: { 200: answer('the run', 'RunWithResponse') },
        }),
      },
      '/runs/{id}/result': {
        get: operation('runResult', 'execute', 'The response of a run, in the form of its contract', {
          parameter: 'id',
          answers: {
            200: { description: 'its response', content: json({ type: 'object' }) },
            202: answer('it has not ended', 'Run'),
          },
        }),
      },
      '/runs/{id}/cancel': {
        post: operation('cancelRun', 'execute', 'End a run', {
          parameter: 'id',
          answers: { 200: answer('the run', 'Run') },
          refusals: [400, 401, 403, 404, 409, 503],
        }),
      },
      '/approvals': {
        get: {
          ...operation('listApprovals', 'approve', 'Calls that wait for a person', {
            answers: { 200: answer('the approvals', 'Approvals') },
            refusals: [400, 401, 403],
          }),
          parameters: [{ name: 'state', in: 'query', schema: { enum: ['pending', 'all'], default: 'pending' } }],
        },
      },
      '/approvals/grants': {
        get: operation('listGrants', 'approve', 'Standing decisions: tools that are called without asking for now', {
          answers: { 200: answer('grants', 'Grants') },
        }),
      },
      '/approvals/{id}/revoke': {
        post: {
          ...operation('revoke', 'approve', 'End a grant: the next call asks again', {
            parameter: 'id',
            answers: { 200: answer('the grant that has ended', 'Grant') },
            refusals: [400, 401, 403, 404, 413, 415],
          }),
          requestBody: { required: false, content: json(ref('Revocation')) },
        },
      },
      '/approvals/{id}': {
        get: operation('showApproval', 'approve', 'One approval', {
          parameter: 'id',
          answers: { 200: answer('the approval', 'Approval') },
        }),
      },
      '/approvals/{id}/approve': { post: decision('approve', 'Approve the call') },
      '/approvals/{id}/deny': { post: decision('deny', 'Deny the call') },
      '/servers': {
        get: operation('listServers', 'servers', 'Servers and their states', {
          answers: { 200: answer('servers', 'Servers') },
        }),
        post: operation('registerServer', 'servers', 'Add a server', {
          body: 'NewServer',
          answers: { 201: answer('its state', 'Server') },
          refusals: [400, 401, 403, 404, 413, 415],
        }),
      },
      '/servers/{name}': {
        delete: operation('unregisterServer', 'servers', 'Remove a server', {
          parameter: 'name',
          answers: { 204: { description: 'it was removed' } },
        }),
      },
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: componentSchemas(limits),
    },
  };
}

interface OperationParts {
  /** Path parameter. */
  readonly parameter?: string;
  readonly body?: string;
  readonly answers: JsonObject;
  /** By default those of a read. */
  readonly refusals?: readonly number[];
  readonly refusal?: JsonObject;
}

function operation(operationId: string, scope: Scope, summary: string, parts: OperationParts): JsonObject {
  const { parameter, body, answers, refusal = ref('Error') } = parts;
  const { refusals = parameter === undefined ? [401, 403] : [401, 403, 404] } = parts;
  const turnedDown = refusals.map((status) => [
    String(status),
    { description: REFUSALS[status] ?? 'refused', content: json(refusal) },
  ]);
  return {
    operationId,
    summary,
    description: `Needs a token with the scope \`${scope}\`.`,
    ...omitUndefined({
      parameters: ifDefined(parameter, (parameter) => [
        { name: parameter, in: 'path', required: true, schema: { type: 'string' } },
      ]),
      requestBody: ifDefined(body, (body) => ({ required: true, content: json(ref(body)) })),
    }),
    responses: { ...answers, ...Object.fromEntries(turnedDown) },
  };
}

function decision(operationId: string, summary: string): JsonObject {
  return {
    ...operation(operationId, 'approve', summary, {
      parameter: 'id',
      answers: { 200: answer('the approval, decided', 'Approval') },
      refusals: [400, 401, 403, 404, 409, 413, 415],
    }),
    requestBody: { required: false, content: json(ref('Decision')) },
  };
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'the request is not valid',
  401: 'no token, or an invalid one',
  403: 'the token may not do this, or the request asks for too many capabilities',
  404: 'not found',
  409: 'somebody else decided first, or the run has ended',
  413: 'the body is too large',
  415: 'the body is not JSON',
  426: 'the request does not ask for a WebSocket',
  429: 'the caller has reached one of its quotas',
  499: 'it was cancelled before it began',
  503: 'too busy; try again after the time in Retry-After',
};

function answer(description: string, schema: string): JsonObject {
  return { description, content: json(ref(schema)) };
}

function json(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}
