import { isHostError } from '../../domain/errors.js';
import { OWN_TOOL_NAMES } from '../../domain/own-tool-names.js';
import type { GoStatus } from '../../domain/process-program.js';
import { goServerDeclarations } from '../../host/processes/go-package.js';
import { answerCharacters, DEFAULT_ANSWER_TOKENS } from '../answer-budget.js';
import { linesWithin } from '../lines-within.js';
import type { ExposedTool, OutwardAnswer, Profile } from '../profile.js';
import { otherNames } from '../tool-names.js';
import { parseGoRequest } from './contract.js';
import { PLAYGROUND } from './playground.js';
import { goPresentation } from './presentation.js';
import { instructions, missing, toolDescription } from './prompt.js';
import { type GoResponse, renderHostError } from './render.js';
import { runProgram } from './run-program.js';
import type { GoSettings } from './settings.js';
import { TOOL_INPUT_SCHEMA, TOOL_OUTPUT_SCHEMA } from './tool-schemas.js';

export interface GoOptions {
  readonly settings: GoSettings;
  /** Without a toolchain the tool is not listed. */
  readonly status: GoStatus;
  readonly toolName?: string;
  /** The approximate token budget of an answer. */
  readonly maxTokens?: number;
}

const TOOL_NAME = OWN_TOOL_NAMES.go;

/** The contract `go`: one tool that compiles and runs Go code, which calls tools as typed functions. */
export function createGoProfile({
  settings,
  status,
  toolName = TOOL_NAME,
  maxTokens = DEFAULT_ANSWER_TOKENS,
}: GoOptions): Profile {
  const tool: ExposedTool = {
    name: toolName,
    aliases: otherNames(toolName, TOOL_NAME),
    title: 'Execute Golang Code',
    description: toolDescription,
    inputSchema: TOOL_INPUT_SCHEMA,
    outputSchema: TOOL_OUTPUT_SCHEMA,
    call: async (session, input, { log: _, ...context }) => {
      try {
        const { code } = parseGoRequest(input);
        const { response, notes, hasFailed } = await runProgram(session, code, settings, context);
        const output = linesWithin(response.output, answerCharacters(maxTokens));
        return { ...answerOf({ output }, hasFailed), notes };
      } catch (error) {
        if (!isHostError(error)) throw error;
        return answerOf(renderHostError(error), true);
      }
    },
  };
  return {
    name: 'go',
    presentation: goPresentation,
    playground: PLAYGROUND,
    tools: status.isAvailable ? [tool] : [],
    maxResultBytes: settings.limits.maxStdoutBytes,
    instructions: (view) => instructions(view, status, toolName, settings, answerCharacters(maxTokens)),
    declarations: goServerDeclarations,
    declarationFormat: {
      fileName: 'tools.go',
      mimeType: 'text/x-go',
      describe: ({ path }) => `Go declarations of ${path}`,
    },
    callExample: ({ tool: { name }, server }) =>
      `callTool(ctx, ${JSON.stringify(server.id)}, ${JSON.stringify(name)}, input)`,
    ...(status.isAvailable
      ? {}
      : { missingTools: new Map([toolName, TOOL_NAME].map((name) => [name, missing(status, name)])) }),
  };
}

/** A failed program is also a tool error in MCP terms: models then look again at their code. */
function answerOf(response: GoResponse, isError: boolean): OutwardAnswer {
  return { structured: { ...response }, media: [], isError, isStillRunning: false };
}
