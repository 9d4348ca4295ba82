import { shapeOfResult } from '../../catalog/observed/shape-of-result.js';
import { schemaOfShape } from '../../catalog/observed/shape-schema.js';
import { HostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { SCRIPT_PROFILES, type ScriptPin, type ScriptProfile } from '../../domain/script.js';
import type { RecordedCall } from '../recordings/recorded-call.js';
import { recordedTool } from '../recordings/recorded-tool.js';
import type { AnyRecording, Recording } from '../recordings/recording.js';
import { type ChosenInput, type ReplacedLiteral, withInputs } from './script-inputs.js';
import { literalsOf } from './source-literals.js';
import type { NewScript } from './stored-scripts.js';

/** The requested script to make from a run. */
export interface KeepWish {
  readonly name: string;
  readonly description: string;
  readonly inputs: readonly ChosenInput[];
}

/** A literal of the program that was sent to a tool: it may vary from run to run. */
export interface ProposedInput {
  readonly name: string;
  readonly value: string | number;
  readonly line: number;
}

export interface ScriptOfRun {
  readonly script: NewScript;
  /** The literals that became inputs. */
  readonly replaced: readonly ReplacedLiteral[];
  /** Other literals that could become inputs. */
  readonly proposed: readonly ProposedInput[];
}

/** A longer list does not help. */
const MAX_PROPOSED = 20;

/** Makes a script from a successful run. Throws `bad_input` if that is impossible. */
export function scriptFromRun(recorded: AnyRecording, profile: string, wish: KeepWish): ScriptOfRun {
  const recording = keepable(recorded, profile);
  const { journal, calls, outcome, runId } = recording;
  const isClassic = journal.script !== undefined;
  const given = inputOf(recording);
  const { source, inputSchema, replaced } = withInputs(journal.source, wish.inputs, { isClassic, given });
  const result = outcome.status === 'completed' ? (JSON.parse(outcome.resultJson) as JsonValue) : null;
  const outputSchema = schemaOfShape(shapeOfResult(result));
  const script: NewScript = {
    ...{ name: wish.name, source, language: journal.language, profile: profile as ScriptProfile },
    description: wish.description,
    inputSchema,
    ...(Object.keys(outputSchema).length === 0 ? {} : { outputSchema }),
    pins: pinsOf(calls, isClassic),
    fromRun: runId,
  };
  return { script, replaced, proposed: proposedInputs(journal.source, calls, wish.inputs) };
}

function keepable(recorded: AnyRecording, profile: string): Recording {
  const { runId } = recorded;
  const cannot = (why: string) => new HostError('bad_input', `run ${runId} cannot be kept as a script: ${why}`);
  if (!SCRIPT_PROFILES.some((each) => each === profile) || !('journal' in recorded))
    throw cannot(
      `it was made under profile ${profile}, and scripts are written for ${SCRIPT_PROFILES.join(' or ')}; run the program there, and keep that run`,
    );
  if (recorded.outcome.status !== 'completed') throw cannot('it failed; keep a run that worked: codemode runs');
  return recorded;
}

/** The input that the program itself was run with. */
function inputOf({ journal: { modules, script } }: Recording): JsonObject {
  if (script !== undefined) return isJsonObject(script.input) ? script.input : {};
  const found = modules.find(({ specifier }) => specifier === '@codemode/input')?.exports[0];
  return found?.kind === 'value' && isJsonObject(found.value) ? found.value : {};
}

function pinsOf(calls: readonly RecordedCall[], isClassic: boolean): ScriptPin[] {
  const pins = new Map<string, ScriptPin>();
  for (const call of calls) {
    const { toolDigest: digest } = call;
    const named = digest === undefined ? undefined : recordedTool(call, isClassic);
    if (digest === undefined || named === undefined) continue;
    const { server, tool } = named;
    pins.set(`${server}/${tool}`, { server, tool, digest });
  }
  return [...pins.values()];
}

function proposedInputs(
  source: string,
  calls: readonly RecordedCall[],
  chosen: readonly ChosenInput[],
): ProposedInput[] {
  const taken = new Set(chosen.map(({ value }) => value));
  const lines = new Map((literalsOf(source) ?? []).map(({ value, line }) => [value, line] as const));
  const proposed = new Map<string | number, ProposedInput>();
  const look = (value: JsonValue, key: string): void => {
    if (typeof value === 'string' || typeof value === 'number') {
      const line = lines.get(value);
      const isNew = line !== undefined && !taken.has(value) && !proposed.has(value);
      if (isNew && value !== '' && proposed.size < MAX_PROPOSED) proposed.set(value, { name: key, value, line });
    } else if (Array.isArray(value)) for (const each of value) look(each, key);
    else if (isJsonObject(value)) for (const [name, each] of Object.entries(value)) look(each, name);
  };
  for (const { argumentsJson, toolDigest } of calls)
    if (toolDigest !== undefined)
      for (const argument of JSON.parse(argumentsJson) as JsonValue[])
        if (isJsonObject(argument)) look(argument, 'value');
  return [...proposed.values()];
}
