import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { PlaygroundAnswer, PlaygroundDeclarations, PlaygroundInfo } from '../../../domain/console/playground.js';
import { HostError } from '../../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../../domain/limits.js';
import { PROFILE_NAMES } from '../../../domain/profile-name.js';
import type { RunState } from '../../../domain/run.js';
import type { TypeVerdict } from '../../../domain/type-check.js';
import { cutText } from '../../../host/admin/console/cut-value.js';
import { editorHints } from '../../../host/tools/editor-hints.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { ExposedTool, OutwardAnswer } from '../../../profiles/profile.js';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';

const runSchema = z.strictObject({
  source: z.string().min(1).max(MAX_SOURCE_BYTES),
  profile: z.enum(PROFILE_NAMES),
  language: z.string().max(20).optional(),
  timeoutMs: z.number().int().min(1).max(600_000).optional(),
});
const checkSchema = z.strictObject({ source: z.string().max(MAX_SOURCE_BYTES), profile: z.enum(PROFILE_NAMES) });
const profileSchema = z.strictObject({ profile: z.enum(PROFILE_NAMES) });
const MAX_DECLARATIONS_CHARACTERS = 2 * 1024 * 1024;
const MAX_TOOLS = 5_000;
const DESCRIPTION_CHARACTERS = 600;
const MODEL_CHARACTERS = 4 * 1024 * 1024;

/** Runs programs of the person at the console like those of an agent, under the chosen contract. */
export function mountPlayground(scope: FastifyInstance, { options }: ConsoleContext): void {
  const { playground, host, log } = options;
  scope.get('/playground', async (): Promise<PlaygroundInfo> => {
    return { profiles: await playground.profiles() };
  });
  scope.post('/playground/run', { config: { isOwnersOnly: true } }, async (request): Promise<PlaygroundAnswer> => {
    const { source, profile: name, language, timeoutMs } = readRequest(runSchema, request.body, 'the body');
    const { profile, session } = await playground.open(name);
    const tool = toolFor(profile.tools, language);
    let runId: string | undefined;
    const notices: string[] = [];
    const answer = await tool.call(session, profile.playground.input(source, timeoutMs), {
      // Reloading the page loses nothing: the run continues, and is listed among the runs.
      signal: new AbortController().signal,
      onBegin: (id) => {
        runId = id;
      },
      // The person has the inbox: a run that needs a decision is suspended at once, and resumed after the decision.
      suspendsToAsk: true,
      onNotice: (text) => notices.push(text),
      log,
    });
    const notes = [...(answer.notes ?? []), ...notices];
    const text = [answer.text ?? JSON.stringify(answer.structured), ...notes].join('\n');
    const state = await stateOf(answer, runId, (id) => host.showRun(id));
    return {
      ...omitUndefined({ runId }),
      state,
      forModel: cutText(text, MODEL_CHARACTERS),
      tokens: playground.countTokens(text),
      structured: answer.structured,
      isError: answer.isError,
      notes,
      approvals: answer.suspended?.approvals.map(({ id }) => id) ?? [],
    };
  });
  scope.post('/playground/check', { config: { isOwnersOnly: true } }, async (request): Promise<TypeVerdict> => {
    const { source, profile: name } = readRequest(checkSchema, request.body, 'the body');
    const { session } = await playground.open(name);
    return session.check(source);
  });
  scope.get('/playground/declarations', async ({ query }): Promise<PlaygroundDeclarations> => {
    const { profile: name } = readRequest(profileSchema, query, 'the query');
    const { profile, session } = await playground.open(name);
    const view = session.tools();
    let room = MAX_DECLARATIONS_CHARACTERS;
    const servers = view.forCode.servers.flatMap((server) => {
      const text = profile.declarations(server, view);
      room -= text.length;
      return room < 0 ? [] : [{ specifier: `@codemode/servers/${server.path}`, text }];
    });
    const tools = view.forCode.servers
      .flatMap(({ tools: all, path }) => all.map((tool) => ({ tool, specifier: `@codemode/servers/${path}` })))
      .slice(0, MAX_TOOLS)
      .map(({ specifier, tool }) => ({
        ...{ specifier, exportName: tool.exportName, ...editorHints(tool, view) },
        description: cutText(tool.tool.description ?? '', DESCRIPTION_CHARACTERS),
      }));
    return { servers, tools };
  });
}

/** If there are several tools, each has its own language. */
function toolFor(tools: readonly ExposedTool[], language: string | undefined): ExposedTool {
  const [first] = tools;
  const found = tools.length > 1 && language !== undefined ? tools.find(({ name }) => name.endsWith(language)) : first;
  if (found !== undefined) return found;
  throw new HostError('bad_input', `language: choose one of ${tools.map(({ name }) => name).join(', ')}`);
}

async function stateOf(
  answer: OutwardAnswer,
  runId: string | undefined,
  show: (runId: string) => Promise<{ readonly state: RunState }>,
): Promise<RunState> {
  if (answer.suspended !== undefined) return 'suspended';
  if (answer.isStillRunning) return 'running';
  const known = runId === undefined ? undefined : await show(runId).catch(() => undefined);
  return known?.state ?? (answer.isError ? 'failed' : 'succeeded');
}
