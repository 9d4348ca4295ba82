import { HostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import type { SuspendedRuns } from '../runs/suspended-runs.js';
import { findSyntaxError } from '../runs/syntax-check.js';
import { scriptFromRun } from './script-from-run.js';
import type { ChosenInput } from './script-inputs.js';
import { checkName, type ScriptLibrary } from './stored-scripts.js';

/** Where the caller's runs are stored, and what parses a source without running it. */
export interface SavingParts {
  readonly suspended: Pick<SuspendedRuns, 'list' | 'outcomeOf' | 'recordingOf'>;
  readonly sandbox: Sandbox;
  readonly scripts: Pick<ScriptLibrary, 'checkFree'>;
}

/** The program's caller, and the run that asks. */
export interface SavingCaller {
  readonly caller: CallerId;
  readonly runId: string;
}

const USE = 'save({ name: "monthly-report", description: "...", inputs: { month: "2026-11" } })';
/** The number of recent runs searched for the last successful one. */
const MAX_LOOKED_AT = 50;

/**
 * The script that a program's `save` would store, made from an earlier run of the same caller: the last successful one, or the one
 * it names. Throws `bad_input`, `not_found` and `quota_exceeded`. Stores nothing.
 */
export async function scriptToSave(
  { suspended, sandbox, scripts }: SavingParts,
  owner: SavingCaller,
  wish: JsonValue | undefined,
): Promise<JsonObject> {
  const { name, description, run, inputs } = readWish(wish);
  const { profile, runId } = await findRun(suspended, owner, run);
  const recording = await suspended.recordingOf(runId);
  // The recording is sealed with its caller. The row that led to it is not.
  if (recording.caller !== owner.caller) throw notYours(runId);
  const { script } = scriptFromRun(recording, profile, { name, description, inputs });
  const saved = { ...script, savedBy: owner.caller };
  await scripts.checkFree(saved);
  const failure = inputs.length === 0 ? undefined : await findSyntaxError(sandbox, script.source, script.language);
  if (failure !== undefined)
    throw new HostError('bad_input', `with these inputs the program cannot be read: ${failure.message}`);
  return saved as unknown as JsonObject;
}

function readWish(wish: JsonValue | undefined) {
  if (!isJsonObject(wish)) throw new HostError('bad_input', `save takes one object: ${USE}`);
  const { name, description = '', run, inputs = {} } = wish;
  if (typeof name !== 'string' || typeof description !== 'string')
    throw new HostError('bad_input', `save: name and description are strings: ${USE}`);
  checkName(name);
  if (run !== undefined && typeof run !== 'string')
    throw new HostError('bad_input', 'save: run is the id of an earlier run; leave it out for the last one');
  if (!isJsonObject(inputs)) throw new HostError('bad_input', `save: inputs is an object: ${USE}`);
  const chosen = Object.entries(inputs).map(([input, value]): ChosenInput => {
    if (typeof value === 'string' || typeof value === 'number') return { name: input, value };
    throw new HostError(
      'bad_input',
      `save: the input ${JSON.stringify(input)} must be a string or a number of the program`,
    );
  });
  return { name, description, run, inputs: chosen };
}

async function findRun(
  suspended: SavingParts['suspended'],
  { caller, runId }: SavingCaller,
  named: string | undefined,
) {
  if (named !== undefined) {
    const found = await suspended.outcomeOf(caller, named);
    if (found !== undefined) return found;
    throw notYours(named);
  }
  const runs = await suspended.list(MAX_LOOKED_AT, caller);
  // After an approval, the same run is meant as before it.
  const own = runs.find((each) => each.runId === runId);
  const last = runs.find(
    (each) => each.state === 'succeeded' && (own === undefined || each.createdAtMs <= own.createdAtMs),
  );
  if (last !== undefined) return last;
  throw new HostError('not_found', 'you have no run that worked; run the program first, and save it in the next one');
}

function notYours(runId: string): HostError {
  return new HostError(
    'not_found',
    `you have no run ${JSON.stringify(runId.slice(0, 80))}; leave run out for your last one`,
  );
}
