import { GRANT_SCOPES } from '../../domain/approval.js';
import type { JsonObject } from '../../domain/json.js';
import type { LimitTable } from '../../domain/limits.js';
import { UPSTREAM_KINDS, UPSTREAM_STATES } from '../../domain/upstream.js';
import { errorSchema, executeInputSchema, executeOutputSchema } from '../../profiles/unified/tool-schemas.js';

/** The messages of the REST surface as JSON Schema: the components of the OpenAPI document. */
export function componentSchemas(limits: LimitTable): JsonObject {
  return {
    ExecuteRequest: executeInputSchema(limits),
    ExecuteResponse: executeOutputSchema(),
    CheckRequest: object({ code: { ...text, description: 'A program of contract `codemode`.' } }),
    CheckResponse: object(
      { isChecked: { type: 'boolean', description: 'False where there is no type checker: see `reason`.' } },
      { reason: text, problems: list('TypeProblem') },
    ),
    TypeProblem: object(
      {
        severity: { enum: ['error', 'warning'], description: 'error: it would surely fail at run time.' },
        code: { type: 'integer' },
        message: text,
        line: { type: 'integer' },
        column: { type: 'integer' },
      },
      { hint: text },
    ),
    Error: object({ error: errorSchema(), requestId: text }),
    Run,
    RunWithResponse: { ...Run, properties: { ...runFields, response: {} } },
    Runs: object({ runs: list('Run') }),
    Approval,
    Approvals: object({ approvals: list('Approval') }),
    Decision,
    Grant,
    Grants: object({ grants: list('Grant') }),
    Revocation: object({}, { reason: { ...text, maxLength: 500 } }),
    Namespaces: object({ namespaces: { type: 'object', additionalProperties: ref('Namespace') } }),
    Namespace: object({ description: text, server: text, tools: list('Tool') }, { problem: text }),
    Tool: object(
      { name: text, description: text, inputSchema: { type: 'object' } },
      {
        toolName: { ...text, description: "The tool's own name, where code calls it by another." },
        outputSchema: { type: 'object' },
        deprecated: { type: 'boolean' },
      },
    ),
    Server,
    Servers: object({ servers: list('Server') }),
    NewServer: {
      type: 'object',
      description: 'A server as the configuration writes it, with its name.',
      properties: { name: { ...text, minLength: 1, maxLength: 128 } },
      required: ['name'],
      additionalProperties: true,
    },
  };
}

export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object without additional properties. */
function object(required: JsonObject, optional: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

function list(name: string): JsonObject {
  return { type: 'array', items: ref(name) };
}

const text: JsonObject = { type: 'string' };
const time: JsonObject = { type: 'string', format: 'date-time' };
const APPROVAL_STATES = ['PENDING', 'APPROVED', 'DENIED', 'EXPIRED'];

const Run = object(
  { runId: text, state: { enum: ['running', 'suspended', 'succeeded', 'failed', 'cancelled'] }, createdAt: time },
  {
    profile: text,
    updatedAt: time,
    approvals: { type: 'array', items: object({ id: text, state: { enum: APPROVAL_STATES } }) },
  },
);
const runFields = Run.properties as JsonObject;

const Approval = object(
  {
    id: text,
    runId: text,
    caller: text,
    tool: { ...text, description: '<server>/<tool>' },
    arguments: { description: 'What the tool is called with; each secret is a mark with its length and digest.' },
    digest: { ...text, description: 'SHA-256 of the arguments as they are sent.' },
    hiddenParts: { type: 'integer', minimum: 0, description: 'Secrets in the arguments that are shown as a mark.' },
    code: { ...text, description: 'The lines of the program around the call.' },
    reason: text,
    state: { enum: APPROVAL_STATES },
    createdAt: time,
    expiresAt: time,
  },
  { decision: object({ by: text, at: time, scope: { enum: [...GRANT_SCOPES] } }, { reason: text }) },
);

const Grant = object(
  {
    id: { ...text, description: 'The approval by which it was given.' },
    scope: { enum: ['run', 'hour'] },
    caller: text,
    tool: { ...text, description: '<server>/<tool>' },
    reason: { ...text, description: 'Calls that are asked about for another reason are not covered.' },
    by: text,
    at: time,
    expiresAt: time,
  },
  { runId: { ...text, description: 'With the scope `run`: the run that it ends with.' } },
);

const Decision = object(
  {},
  {
    reason: { ...text, maxLength: 500 },
    scope: { enum: [...GRANT_SCOPES] },
    ids: {
      type: 'array',
      items: text,
      maxItems: 500,
      description: 'With the scope `calls`: the approvals that were shown. No others are decided.',
    },
    digest: { ...text, description: 'The digest of what was shown. If it differs now, nothing is decided.' },
  },
);

const Server = object(
  {
    name: text,
    state: { enum: [...UPSTREAM_STATES] },
    since: time,
  },
  {
    losses: { type: 'integer', minimum: 0 },
    reason: text,
    needsLogin: { type: 'boolean' },
    source: { enum: [...UPSTREAM_KINDS] },
    auth: object({ type: { enum: ['bearer', 'basic', 'apiKey', 'oauth2', 'header'] } }),
  },
);
