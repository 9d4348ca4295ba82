import { isHostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import { OWN_TOOL_NAMES } from '../../domain/own-tool-names.js';
import { scriptDeclarationsOf } from '../../host/tools/tool-view.js';
import { beginningOf, DEFAULT_ANSWER_TOKENS } from '../answer-budget.js';
import type { ExposedTool, OutwardAnswer, Profile } from '../profile.js';
import { SignaturesAfterFailure } from '../signatures-after-failure.js';
import { otherNames } from '../tool-names.js';
import { parseScriptRun, type ScriptDefaults } from './contract.js';
import { PLAYGROUND } from './playground.js';
import { codeExecutionPresentation } from './presentation.js';
import { instructions, toolDescription } from './prompt.js';
import { renderBadRequest, renderHostError, type ScriptResponse } from './render.js';
import { runScript } from './run-script.js';
import { TOOL_INPUT_SCHEMA, TOOL_OUTPUT_SCHEMA } from './tool-schemas.js';

const TOOL_NAME = OWN_TOOL_NAMES.codeExecution;
/** The response is sent twice, as text and as structured content, and many clients close the connection on a message of 10 MB. */
const MAX_RESULT_BYTES = 4_000_000;
const META: JsonObject = { 'anthropic/maxResultSizeChars': 500_000 };

export interface CodeExecutionOptions {
  readonly defaults: ScriptDefaults;
  readonly toolName?: string;
  /** The approximate token budget of an answer. */
  readonly maxTokens?: number;
}

/** The contract `code_execution`: one tool that runs a script, whose calls block it. */
export function createCodeExecutionProfile({
  defaults,
  toolName = TOOL_NAME,
  maxTokens = DEFAULT_ANSWER_TOKENS,
}: CodeExecutionOptions): Profile {
  const told = new SignaturesAfterFailure();
  const tool: ExposedTool = {
    name: toolName,
    aliases: otherNames(toolName, TOOL_NAME),
    title: 'Run a script',
    description: toolDescription,
    inputSchema: TOOL_INPUT_SCHEMA,
    outputSchema: TOOL_OUTPUT_SCHEMA,
    meta: META,
    call: async (session, input, context) => {
      try {
        return modelAnswer(await runScript(session, parseScriptRun(input, defaults), context, told), maxTokens);
      } catch (error) {
        if (isHostError(error, 'bad_input')) return answer(renderBadRequest(error.message), true);
        if (isHostError(error)) return answer(renderHostError(error), true);
        throw error;
      }
    },
  };
  return {
    name: 'code_execution',
    presentation: codeExecutionPresentation,
    playground: PLAYGROUND,
    tools: [tool],
    maxResultBytes: MAX_RESULT_BYTES,
    instructions: (view, scripts = []) => instructions(view, defaults, scripts, toolName),
    declarations: scriptDeclarationsOf,
    declarationFormat: {
      fileName: 'types.d.ts',
      mimeType: 'text/x-typescript',
      describe: ({ path }) => `TypeScript declarations of call_tool for ${path}`,
    },
    callExample: ({ tool, server }) => `call_tool(${JSON.stringify(server.id)}, ${JSON.stringify(tool.name)}, { ... })`,
  };
}

/** The answer for a model: a large value is cut to its beginning, with a note. The command line prints all of it. */
function modelAnswer(response: ScriptResponse, maxTokens: number): OutwardAnswer {
  const cut = response.ok ? beginningOf(response.value, 'value', maxTokens) : undefined;
  if (cut === undefined) return answer(response, false);
  return { ...answer({ ok: true, value: cut.value }, false), notes: [`${cut.note}.`] };
}

function answer(response: ScriptResponse, isError: boolean): OutwardAnswer {
  return { structured: response as unknown as JsonObject, media: [], isError, isStillRunning: false };
}
