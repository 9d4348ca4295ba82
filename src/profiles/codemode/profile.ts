import { type HostError, isHostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Session } from '../../host/session.js';
import { declarationsOf } from '../../host/tool-view.js';
import type { CallCircumstances, ExposedTool, OutwardAnswer, Profile } from '../profile.js';
import { type LimitTable, runRequestParser } from './contract.js';
import { mediaOf } from './media.js';
import { codemodePresentation } from './presentation.js';
import { type RunResponse, renderBadRequest, renderHostError, renderResponse, renderStillRunning } from './render.js';

export interface CodemodeProfileOptions {
  readonly limits: LimitTable;
  /** Some model APIs refuse a dot in a tool's name. */
  readonly toolName?: string;
}

const TOOL_NAME = 'codemode.run';
/** Clients that cut answers do so near 25,000 tokens unless they are told better: see `META`. */
const MAX_RESULT_BYTES = 200_000;
const META: JsonObject = { 'anthropic/maxResultSizeChars': 500_000 };

/** The contract "Code Mode for MCP": one tool that runs a program. */
export function createCodemodeProfile({ limits, toolName = TOOL_NAME }: CodemodeProfileOptions): Profile {
  const parse = runRequestParser(limits);
  const tool: ExposedTool = {
    name: toolName,
    title: 'Run a program',
    description: TEXTS.description,
    inputSchema: TEXTS.inputSchema,
    outputSchema: TEXTS.outputSchema,
    meta: META,
    call: async (session, input, circumstances) => {
      try {
        return await run(session, parse(input), circumstances);
      } catch (error) {
        if (isHostError(error, 'bad_input')) return answer(renderBadRequest(error.message));
        if (isHostError(error)) return hostFailure(error);
        throw error;
      }
    },
  };
  return {
    name: 'codemode',
    presentation: codemodePresentation,
    tools: [tool],
    maxResultBytes: MAX_RESULT_BYTES,
    instructions: TEXTS.instructions,
    declarations: declarationsOf,
  };
}

async function run(
  session: Session,
  { code, limits, requestedCapabilities }: ReturnType<ReturnType<typeof runRequestParser>>,
  circumstances: CallCircumstances,
): Promise<OutwardAnswer> {
  const outcome = await session.run({
    source: code,
    language: 'typescript',
    limits,
    requestedServers: requestedCapabilities,
    ...circumstances,
  });
  if (outcome.state === 'running') return { ...answer(renderStillRunning(outcome.runId)), isStillRunning: true };
  const response = renderResponse(outcome.summary);
  return { ...answer(response), media: mediaOf(response.result) };
}

function answer(response: RunResponse): OutwardAnswer {
  return { structured: response as unknown as JsonObject, media: [], isError: false, isStillRunning: false };
}

function hostFailure(error: HostError): OutwardAnswer {
  return { ...answer(renderHostError(error)), isError: true };
}

/** The words for the agent, all in one place. */
const TEXTS = {
  description: ({ forCode: { servers } }: Parameters<ExposedTool['description']>[0]) => {
    const index = servers.map(({ path, tools }) => `- @codemode/servers/${path} (${tools.length} tools)`).join('\n');
    return `Runs a JavaScript or TypeScript program (an ES module) in a fresh sandbox. Assign the answer to globalThis.__codemode_result__. Servers:\n${index === '' ? '- none' : index}`;
  },
  instructions: ({ forCode: { servers } }: Parameters<Profile['instructions']>[0]) =>
    `Write one program that calls the connected servers as modules: ${servers.map(({ path }) => path).join(', ')}.`,
  inputSchema: {
    type: 'object',
    properties: {
      code: { type: 'string', description: 'An ES module in JavaScript or TypeScript.' },
      limits: {
        type: 'object',
        properties: {
          timeoutMs: { type: 'integer' },
          maxMemoryBytes: { type: 'integer' },
          maxLogBytes: { type: 'integer' },
          maxToolCalls: { type: 'integer' },
        },
      },
      requestedCapabilities: { type: 'array', items: { type: 'string' } },
    },
    required: ['code'],
  },
  outputSchema: {
    type: 'object',
    properties: {
      logs: { type: 'array', items: { type: 'object' } },
      result: {},
      diagnostics: { type: 'array', items: { type: 'object' } },
      toolTrace: { type: 'array', items: { type: 'object' } },
      runId: { type: 'string' },
    },
    required: ['logs', 'result', 'diagnostics'],
  },
} satisfies {
  description: ExposedTool['description'];
  instructions: Profile['instructions'];
  inputSchema: JsonObject;
  outputSchema: JsonObject;
};
