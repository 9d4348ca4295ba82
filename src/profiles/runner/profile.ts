import type { JsonObject } from '../../domain/json.js';
import { OWN_TOOL_NAMES } from '../../domain/own-tool-names.js';
import type { ProcessLanguage, ProcessRuntimeStatus } from '../../domain/process-program.js';
import { functionOf, moduleOf, typesOf } from '../../host/processes/process-packages.js';
import { beginningOf, DEFAULT_ANSWER_TOKENS } from '../answer-budget.js';
import type { ExposedTool, OutwardAnswer, Profile } from '../profile.js';
import { SignaturesAfterFailure, type WrittenNames } from '../signatures-after-failure.js';
import { Ticket } from './envelope.js';
import { PLAYGROUND } from './playground.js';
import { runnerPresentation } from './presentation.js';
import { instructions, toolDescription } from './prompt.js';
import { answerRequest, type RunnerAnswer } from './run-program.js';
import type { RunnerSettings } from './settings.js';
import { inputSchema, OUTPUT_SCHEMA } from './tool-schemas.js';

export interface RunnerOptions {
  readonly settings: RunnerSettings;
  /** The interpreters of the machine: only those that can run are offered. */
  readonly runtimes: readonly ProcessRuntimeStatus[];
  /** The approximate token budget of an answer. */
  readonly maxTokens?: number;
}

const TITLES: Readonly<Record<ProcessLanguage, string>> = {
  node: 'Run a Node program',
  python: 'Run a Python program',
};

/** The contract `runner`: one tool for each real interpreter, and an envelope for every outcome. */
export function createRunnerProfile({ settings, runtimes, maxTokens = DEFAULT_ANSWER_TOKENS }: RunnerOptions): Profile {
  const told = new SignaturesAfterFailure();
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
        const answer = await answerRequest(session, ticket, language, input, settings, context);
        const { ended, notes } = answer;
        const types = ended && told.linesFor(session, ended.outcome, ended.trace, namesIn(language));
        return answerOf({ ...answer, notes: [...notes, ...(types ?? [])] }, maxTokens);
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

/** The names that programs write: a server's module and a tool's function. */
function namesIn(language: ProcessLanguage): WrittenNames {
  return {
    server: ({ server }, { forCode }) => moduleOf(server, forCode),
    tool: (tool) => functionOf(tool, language),
  };
}

/**
 * A model reads the outcome of its program. Ids, digests, the image and the duration are for programs: they are beside the answer,
 * where no client shows them to its model ([0121](../../../docs/decisions/0121-ids-are-not-for-the-model.md)).
 */
function answerOf({ envelope, excerpt, rounded, notes: said }: RunnerAnswer, maxTokens: number): OutwardAnswer {
  const { result, ...facts } = envelope;
  const { metrics: _, ...ended } = result;
  const cut = ended.ok ? beginningOf(ended.data, 'data', maxTokens) : undefined;
  const shown = cut === undefined ? ended : { ok: true, data: cut.value };
  const { approval_state } = facts;
  return {
    structured: {
      ...(approval_state === 'NOT_REQUIRED' ? {} : { approval_state }),
      result: shown,
    } as unknown as JsonObject,
    meta: { [ENVELOPE_KEY]: facts },
    notes: [
      ...(excerpt === '' ? [] : [`What the program printed:\n${excerpt}`]),
      ...(cut === undefined ? [] : [`${cut.note}.`]),
      ...said,
      // The MCP library serialises numbers as JavaScript has them.
      ...(rounded === undefined ? [] : [`${rounded} was rounded in this answer; return it as a string.`]),
    ],
    media: [],
    isError: !result.ok,
    isStillRunning: false,
  };
}

/** The envelope without its result. */
const ENVELOPE_KEY = 'io.github.codemode/envelope';
