import { type HostError, isHostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { LimitTable } from '../../domain/limits.js';
import { OWN_TOOL_NAMES } from '../../domain/own-tool-names.js';
import type { Session } from '../../host/session.js';
import { briefingOf, declarationsOf } from '../../host/tools/tool-view.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { CallContext, ExposedTool, OutwardAnswer, Profile } from '../profile.js';
import { otherNames } from '../tool-names.js';
import { type CodemodeRequest, runRequestParser } from './contract.js';
import { withMediaApart } from './media.js';
import { type AnswerSettings, DEFAULT_ANSWER, modelAnswer, mostResultBytes } from './model-answer.js';
import { PLAYGROUND } from './playground.js';
import { codemodePresentationFor } from './presentation.js';
import { LIBRARY_DECLARATIONS } from './prompt/library-declarations.js';
import { serverInstructions } from './prompt/server-instructions.js';
import { toolDescription } from './prompt/tool-description.js';
import { toolInputSchema, toolOutputSchema } from './prompt/tool-schemas.js';
import {
  type RunResponse,
  renderBadRequest,
  renderHostError,
  renderResponse,
  renderStillRunning,
  renderSuspended,
} from './render.js';

export interface CodemodeProfileOptions {
  readonly limits: LimitTable;
  /** What a model reads of an answer, unless a request overrides it. */
  readonly answer?: AnswerSettings;
  readonly toolName?: string;
}

/** Model APIs reject a request if a tool name contains a dot. */
const TOOL_NAME = OWN_TOOL_NAMES.codemode;
const NAME_IN_CONTRACT = OWN_TOOL_NAMES.codemodeInContract;
/** Clients that cut answers do so near 25,000 tokens unless this raises it. */
const META: JsonObject = { 'anthropic/maxResultSizeChars': 500_000 };

/** The contract "Code Mode for MCP": one tool that runs a program. */
export function createCodemodeProfile(options: CodemodeProfileOptions): Profile {
  const { limits, toolName = TOOL_NAME, answer: settings = DEFAULT_ANSWER } = options;
  const parse = runRequestParser(limits);
  const tool: ExposedTool = {
    name: toolName,
    aliases: otherNames(toolName, TOOL_NAME, NAME_IN_CONTRACT),
    title: 'Run a program',
    description: (view) => toolDescription({ briefing: briefingOf(view), mostBytes: mostResultBytes(settings) }),
    inputSchema: toolInputSchema(limits),
    outputSchema: toolOutputSchema(),
    meta: META,
    call: async (session, input, context) => {
      try {
        return await run(session, parse(input), settings, context);
      } catch (error) {
        if (isHostError(error, 'bad_input')) return answer(renderBadRequest(error.message));
        if (isHostError(error)) return hostFailure(error);
        throw error;
      }
    },
  };
  return {
    name: 'codemode',
    presentation: codemodePresentationFor(settings),
    playground: PLAYGROUND,
    tools: [tool],
    maxResultBytes: mostResultBytes(settings),
    instructions: (view, scripts = []) => {
      const { maySave = false } = view;
      return serverInstructions({ briefing: briefingOf(view), toolName, limits, scripts, maySave });
    },
    declarations: declarationsOf,
    checkedLibrary: LIBRARY_DECLARATIONS,
  };
}

async function run(
  session: Session,
  { code, limits, requestedCapabilities, toolTrace }: CodemodeRequest,
  settings: AnswerSettings,
  { log: _, onNotice: __, ...context }: CallContext,
): Promise<OutwardAnswer> {
  const outcome = await session.run({
    source: code,
    language: 'typescript',
    limits,
    requestedServers: requestedCapabilities,
    ...context,
  });
  if (outcome.state === 'running') return { ...answer(renderStillRunning(outcome.runId)), isStillRunning: true };
  const asked = toolTrace === undefined ? settings : { ...settings, toolTrace };
  if (outcome.state === 'suspended')
    return { ...answer(modelAnswer(renderSuspended(outcome.summary), asked)), suspended: outcome.summary };
  const { keepLogs, media: separated, engine } = outcome.summary;
  const { response, media } = withMediaApart(renderResponse(outcome.summary));
  const told = modelAnswer(response, asked, keepLogs);
  return { ...answer(told), media: separated ?? media, ...omitUndefined({ engine }) };
}

function answer(response: Partial<RunResponse>): OutwardAnswer {
  return { structured: response as unknown as JsonObject, media: [], isError: false, isStillRunning: false };
}

function hostFailure(error: HostError): OutwardAnswer {
  return { ...answer(renderHostError(error)), isError: true };
}
