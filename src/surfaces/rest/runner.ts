import type { FastifyInstance } from 'fastify';
import type { JsonObject } from '../../domain/json.js';
import { PROCESS_LANGUAGES } from '../../domain/process-program.js';
import type { RunnerAnswer } from '../../profiles/runner/run-program.js';
import { inputSchema, OUTPUT_SCHEMA } from '../../profiles/runner/tool-schemas.js';
import type { RestDoor, RunnerRest } from './door.js';
import { statusOf } from './errors.js';
import { mountRun } from './run-request.js';

/**
 * `POST /runner/node` and `/runner/python`: what `codemode runner` prints, for whoever sends the source. A program that
 * has run is answered with 200, whatever became of it. Only where the contract `runner` is served.
 */
export function mountRunner(scope: FastifyInstance, door: RestDoor): void {
  const { runner } = door.options;
  if (runner === undefined) return;
  for (const language of PROCESS_LANGUAGES)
    mountRun(scope, `/runner/${language}`, door.options.host.tracer, async (request, reply) => {
      const answer = await door.runProgram(runner, language, request);
      if (answer.refusal !== undefined) void statusOf(reply, answer.refusal);
      return reply.type('application/json; charset=utf-8').send(withOutput(answer));
    });
}

/** The line as it is, whole numbers of any length included, and behind it what has no other way to the client. */
function withOutput({ line, printed, traceback }: RunnerAnswer): string {
  return `${line.slice(0, -1)},${JSON.stringify({ logs: printed, traceback }).slice(1)}`;
}

const REST_SCHEMA: JsonObject = {
  ...OUTPUT_SCHEMA,
  properties: {
    ...(OUTPUT_SCHEMA.properties as JsonObject),
    logs: { type: 'string', description: 'What the program printed, redacted; <TRUNCATED> marks what was cut.' },
    traceback: { type: 'string', description: 'Where the program failed, where it did.' },
  },
  required: [...(OUTPUT_SCHEMA.required as string[]), 'logs'],
};

/** The same in the words of OpenAPI. */
export function runnerPaths({ settings }: RunnerRest): JsonObject {
  const envelope = { 'application/json': { schema: REST_SCHEMA } };
  const answer = (description: string): JsonObject => ({ description, content: envelope });
  const paths = PROCESS_LANGUAGES.map((language): [string, JsonObject] => [
    `/runner/${language}`,
    {
      post: {
        summary: `Run a program on real ${language === 'node' ? 'Node' : 'Python'}`,
        operationId: `run_${language}`,
        requestBody: { required: true, content: { 'application/json': { schema: inputSchema(language, settings) } } },
        responses: {
          200: answer('it has run, whatever became of it'),
          400: answer('the request is not valid'),
          404: answer('the interpreter is not there'),
          503: answer('no room; try again after the time in Retry-After'),
        },
      },
    },
  ]);
  return Object.fromEntries(paths);
}
