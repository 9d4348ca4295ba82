import type { FastifyInstance } from 'fastify';
import type { ApprovalState } from '../../domain/approval.js';
import type { JsonObject } from '../../domain/json.js';
import { PROCESS_LANGUAGES } from '../../domain/process-program.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { visibleText } from '../../lib/text/visible-text.js';
import type { RunnerAnswer } from '../../profiles/runner/run-program.js';
import { inputSchema, OUTPUT_SCHEMA } from '../../profiles/runner/tool-schemas.js';
import { statusOf } from './errors.js';
import type { RestContext, RunnerRest } from './rest-context.js';
import { mountRun } from './run-request.js';

/**
 * `POST /runner/node` and `/runner/python`: what `codemode runner` prints, over REST. A program that
 * has run gets status 200, whether it succeeded or not. Only in the profile `runner`.
 */
export function mountRunner(scope: FastifyInstance, rest: RestContext): void {
  const { runner } = rest.options;
  if (runner === undefined) return;
  for (const language of PROCESS_LANGUAGES)
    mountRun(scope, `/runner/${language}`, rest.options.host.tracer, async (request, reply) => {
      const answer = await rest.runProgram(runner, language, request);
      if (answer.refusal !== undefined) void statusOf(reply, answer.refusal);
      return reply.type('application/json; charset=utf-8').send(withOutput(answer));
    });
}

/** The line unchanged, to keep whole numbers of any length, extended by the output that reaches the client in no other way. */
function withOutput({ line, printed, traceback, notes }: RunnerAnswer): string {
  const said = {
    logs: visibleText(printed),
    ...omitUndefined({ traceback: ifDefined(traceback, visibleText) }),
    ...(notes.length === 0 ? {} : { notes: notes.map(visibleText) }),
  };
  return `${line.slice(0, -1)},${JSON.stringify(said).slice(1)}`;
}

const APPROVAL_STATES: ApprovalState[] = ['NOT_REQUIRED', 'PENDING', 'APPROVED', 'DENIED', 'EXPIRED'];

const REST_SCHEMA: JsonObject = {
  ...OUTPUT_SCHEMA,
  properties: {
    ...(OUTPUT_SCHEMA.properties as JsonObject),
    // The whole envelope: an answer for a model leaves this out if nothing was asked.
    approval_state: { type: 'string', enum: APPROVAL_STATES },
    logs: { type: 'string', description: 'What the program printed, redacted; <TRUNCATED> marks what was cut.' },
    traceback: { type: 'string', description: 'Where the program failed, where it did.' },
    notes: {
      type: 'array',
      items: { type: 'string' },
      description: 'Notes: incomplete answers, calls before a failure, what was redacted.',
    },
  },
  required: [...(OUTPUT_SCHEMA.required as string[]), 'logs'],
};

/** Refused before the request is parsed, in the same form as on every other route. */
const TURNED_AWAY = [
  [401, 'no token, or an invalid one'],
  [403, 'the token lacks the scope execute'],
  [413, 'the body is too large'],
  [415, 'the body is not JSON'],
] as const;

/** The routes of the runner as OpenAPI paths. */
export function runnerPaths({ settings }: RunnerRest): JsonObject {
  const envelope = { 'application/json': { schema: REST_SCHEMA } };
  const answer = (description: string): JsonObject => ({ description, content: envelope });
  const refused = (description: string): JsonObject => ({
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  });
  const paths = PROCESS_LANGUAGES.map((language): [string, JsonObject] => [
    `/runner/${language}`,
    {
      post: {
        summary: `Run a program on real ${language === 'node' ? 'Node' : 'Python'}`,
        operationId: `run_${language}`,
        requestBody: { required: true, content: { 'application/json': { schema: inputSchema(language, settings) } } },
        responses: {
          200: answer('it has run, whether it succeeded or failed'),
          ...Object.fromEntries(TURNED_AWAY.map(([status, description]) => [status, refused(description)])),
          400: answer('the request is not valid'),
          404: answer('the interpreter is not installed'),
          429: answer('the caller has reached one of its quotas'),
          503: answer('too busy; try again after the time in Retry-After'),
        },
      },
    },
  ]);
  return Object.fromEntries(paths);
}
