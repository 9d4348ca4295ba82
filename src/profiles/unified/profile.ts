import type { JsonObject } from '../../domain/json.js';
import { OWN_TOOL_NAMES } from '../../domain/own-tool-names.js';
import { isEnded } from '../../host/runs/run-types.js';
import { apiDeclarationsOf } from '../../host/tools/api-view.js';
import { DEFAULT_ANSWER_TOKENS, mostResultCharacters } from '../answer-budget.js';
import type { ExposedTool, Profile } from '../profile.js';
import { otherNames } from '../tool-names.js';
import { type ExecuteSettings, execute } from './execute.js';
import { modelAnswer, textOf } from './model-answer.js';
import { PLAYGROUND } from './playground.js';
import { unifiedPresentation } from './presentation.js';
import { instructions, toolDescription } from './prompt.js';
import { ToldSignatures } from './told-signatures.js';
import { executeInputSchema, executeOutputSchema } from './tool-schemas.js';

const TOOL_NAME = OWN_TOOL_NAMES.unified;
/** The response is sent twice, as text and as structured content, and many clients close the connection on a message of 10 MB. */
export const MAX_RESULT_BYTES = 4_000_000;
const META: JsonObject = { 'anthropic/maxResultSizeChars': 500_000 };

export interface UnifiedProfileOptions extends ExecuteSettings {
  readonly toolName?: string;
  /** The approximate token budget of an answer. */
  readonly maxTokens?: number;
}

/** The contract "Code Mode Unified" over MCP: one tool that runs a function body. */
export function createUnifiedProfile({
  toolName = TOOL_NAME,
  maxTokens = DEFAULT_ANSWER_TOKENS,
  ...settings
}: UnifiedProfileOptions): Profile {
  const told = new ToldSignatures();
  const tool: ExposedTool = {
    name: toolName,
    aliases: otherNames(toolName, TOOL_NAME),
    title: 'Execute code',
    description: toolDescription,
    inputSchema: executeInputSchema(settings.limits),
    outputSchema: executeOutputSchema(),
    meta: META,
    call: async (session, input, context) => {
      const { response: whole, answer, refusal } = await execute(session, input, settings, context);
      // Refused and unfinished requests have not shown which types their code needs.
      const types =
        answer === undefined || !isEnded(answer) ? [] : told.linesFor(session, codeOf(input), !whole.success);
      const response = modelAnswer({ ...whole, logs: [...whole.logs, ...types] }, maxTokens);
      return {
        structured: response as unknown as JsonObject,
        text: textOf(response),
        media: [],
        isError: refusal !== undefined,
        isStillRunning: answer?.state === 'running',
        ...(answer?.state === 'suspended' ? { suspended: answer.summary } : {}),
      };
    },
  };
  return {
    name: 'unified',
    presentation: unifiedPresentation,
    playground: PLAYGROUND,
    tools: [tool],
    maxResultBytes: MAX_RESULT_BYTES,
    instructions: (view) => instructions(view, settings, mostResultCharacters(maxTokens)),
    declarations: (server, view) => apiDeclarationsOf(view, [server.id]),
    checkedLibrary: '',
    checksBodies: true,
  };
}

/** The code of an accepted request. */
function codeOf(input: unknown): string {
  const { code } = input as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
