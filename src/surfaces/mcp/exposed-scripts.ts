import { isHostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Limits } from '../../domain/limits.js';
import type { ScriptHead } from '../../domain/script.js';
import type { Host } from '../../host/host.js';
import { isEnded, type RunAnswer, type RunSummary } from '../../host/runs/run-types.js';
import type { Session } from '../../host/session.js';
import { modelSafeName } from '../../lib/text/model-safe-name.js';
import { visibleText } from '../../lib/text/visible-text.js';
import { SHOWN_CHARACTERS } from '../../profiles/answer-budget.js';
import { DEFAULT_ANSWER, modelAnswer } from '../../profiles/codemode/model-answer.js';
import { renderStillRunning, renderSuspended } from '../../profiles/codemode/render.js';
import { cutJson } from '../../profiles/cut-json.js';
import type { CallContext, ExposedTool, OutwardAnswer } from '../../profiles/profile.js';
import { shapeOf } from '../../profiles/shape-of.js';

/** The stored scripts that clients get as tools. */
export interface ExposedScripts {
  readonly names: 'all' | readonly string[];
  /** Limits of each run of a script. */
  readonly limits: Limits;
}

/** The contract of stored scripts, whichever is served. */
const PROFILE = 'codemode';
/**
 * Reserved prefix: no tool of a server and no tool of ours has such a name. So scripts and tools never collide, whatever is added
 * later.
 */
const PREFIX = 'codemode_script_';

/** The stored scripts as tools. */
export function scriptTools(host: Host, { names, limits }: ExposedScripts): readonly ExposedTool[] {
  if (names !== 'all' && names.length === 0) return [];
  const heads = host.scripts
    .known()
    .filter(({ name, profile }) => profile === PROFILE && (names === 'all' || names.includes(name)));
  return heads.map((head) => toolOf(host, head, limits));
}

function toolOf(host: Host, { name, description, inputSchema }: ScriptHead, limits: Limits): ExposedTool {
  return {
    name: modelSafeName(`${PREFIX}${name}`),
    title: name,
    description: () => visibleText(description === '' ? `Runs the stored script ${name}.` : description),
    inputSchema: { ...inputSchema, type: 'object' },
    isLoadedLate: true,
    call: async (session, input, { log: _, onNotice: __, ...client }) => {
      try {
        return answerOf(await run(host, session, { name, input, limits }, client), session.profile);
      } catch (error) {
        if (isHostError(error)) return failed(error.message);
        throw error;
      }
    },
  };
}

async function run(
  host: Host,
  session: Session,
  { name, input, limits }: { readonly name: string; readonly input: JsonValue; readonly limits: Limits },
  client: Omit<CallContext, 'log' | 'onNotice'>,
): Promise<RunAnswer | string> {
  // The current version: the script may have been replaced or removed since it was listed.
  const script = await host.scripts.get(name);
  const { checkScriptInput } = await import('../../host/scripts/script-input.js');
  const checked = checkScriptInput(script, input);
  if (!checked.ok) return `${checked.error.message}\n${checked.error.hint}`;
  return host.openSessionLike(session, PROFILE).runScript(script, checked.input, { limits, ...client });
}

function answerOf(answer: RunAnswer | string, profile: string): OutwardAnswer {
  if (typeof answer === 'string') return failed(answer);
  if (answer.state === 'running')
    return { ...plain(renderStillRunning(answer.runId) as unknown as JsonObject), isStillRunning: true };
  if (!isEnded(answer))
    return {
      ...plain(modelAnswer(renderSuspended(answer.summary), DEFAULT_ANSWER) as unknown as JsonObject),
      suspended: answer.summary,
    };
  const { outcome, keptResult } = answer.summary;
  if (outcome.status === 'failed') {
    const { message, hint } = outcome.failure;
    return failed(hint === undefined ? message : `${message}\n${hint}`);
  }
  if (keptResult !== undefined) return beginningOf(outcome.resultJson, keptResult, profile);
  const result = JSON.parse(outcome.resultJson) as JsonValue;
  return { ...plain(isJsonObject(result) ? result : { result }), text: outcome.resultJson };
}

type KeptResult = NonNullable<RunSummary['keptResult']>;

/** The script has done its work, so a result that is too large is no failure: calling it again would do the work again. */
function beginningOf(resultJson: string, { handle, bytes, mostBytes }: KeptResult, profile: string): OutwardAnswer {
  const result = JSON.parse(cutJson(resultJson, SHOWN_CHARACTERS)) as JsonValue;
  const shape = shapeOf(resultJson);
  const said = [
    `The result has ${bytes} bytes${shape === undefined ? '' : ` (${shape})`}, and an answer takes ${mostBytes}: this is only its beginning.`,
    // The other contracts have no module for it.
    ...(profile === PROFILE
      ? [`A program has all of it: await load(${JSON.stringify(handle)}) of @codemode/results.`]
      : []),
  ];
  const note = said.join(' ');
  return { ...plain({ result, note }), text: `${JSON.stringify(result)}\n${note}` };
}

function plain(structured: JsonObject): OutwardAnswer {
  return { structured, media: [], isError: false, isStillRunning: false };
}

function failed(error: string): OutwardAnswer {
  return { ...plain({ error }), text: error, isError: true };
}
