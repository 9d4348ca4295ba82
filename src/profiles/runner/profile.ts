import type { JsonObject } from '../../domain/json.js';
import { OWN_TOOL_NAMES } from '../../domain/own-tool-names.js';
import type { ProcessLanguage, ProcessRuntimeStatus } from '../../domain/process-program.js';
import { typesOf } from '../../host/processes/process-packages.js';
import type { ExposedTool, OutwardAnswer, Profile } from '../profile.js';
import { type Envelope, Ticket } from './envelope.js';
import { PLAYGROUND } from './playground.js';
import { runnerPresentation } from './presentation.js';
import { instructions, toolDescription } from './prompt.js';
import { answerRequest, type RunnerAnswer } from './run-program.js';
import type { RunnerSettings } from './settings.js';
import { inputSchema, OUTPUT_SCHEMA } from './tool-schemas.js';

export interface RunnerOptions {
  readonly settings: RunnerSettings;
  /** Which interpreters there are: only what can be run is offered. */
  readonly runtimes: readonly ProcessRuntimeStatus[];
}

const TITLES: Readonly<Record<ProcessLanguage, string>> = {
  node: 'Run a Node program',
  python: 'Run a Python program',
};

/** The contract `runner`: one tool for each real interpreter, and an envelope for whatever becomes of a program. */
export function createRunnerProfile({ settings, runtimes }: RunnerOptions): Profile {
  const available = runtimes.filter((each) => each.isAvailable);
  const tools = available.map(
    ({ language, version }): ExposedTool => ({
      name: OWN_TOOL_NAMES[language],
      title: TITLES[language],
      description: (view) => toolDescription(language, version, view),
      inputSchema: inputSchema(language, settings),
      outputSchema: OUTPUT_SCHEMA,
      call: async (session, input, { log: _, ...context }) => {
        const ticket = new Ticket(language, context.trace?.traceId);
        return answerOf(await answerRequest(session, ticket, language, input, settings, context));
      },
    }),
  );
  return {
    name: 'runner',
    presentation: runnerPresentation,
    playground: PLAYGROUND,
    tools,
    maxResultBytes: settings.maxLineBytes,
    instructions: (view) => instructions(view, available, settings),
    declarations: typesOf,
    callExample: ({ tool, server }) => `callTool(${JSON.stringify(server.id)}, ${JSON.stringify(tool.name)}, { ... })`,
  };
}

function answerOf({ envelope, excerpt, rounded, notes: said }: RunnerAnswer): OutwardAnswer {
  const notes = excerpt === '' ? [...said] : [`What the program printed:\n${excerpt}`, ...said];
  // The protocol's library writes numbers as JavaScript has them.
  if (rounded !== undefined) notes.push(`${rounded} was rounded in this answer; hand it over as a string.`);
  return {
    structured: envelope as unknown as JsonObject,
    text: textOf(envelope),
    notes,
    media: [],
    isError: !envelope.result.ok,
    isStillRunning: false,
  };
}

/** Without what a model has no use for, and pays for each time: ids, digests, the image, the time it took. */
function textOf({ result, approval_state }: Envelope): string {
  const { metrics: _, ...said } = result;
  return JSON.stringify({ ...(approval_state === 'NOT_REQUIRED' ? {} : { approval_state }), result: said });
}
