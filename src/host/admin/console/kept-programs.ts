import type { Redactor } from '../../../broker/redaction/redactor.js';
import type {
  KeepPreview,
  KeepRequest,
  KeptProgram,
  ScriptDetail,
  ScriptItem,
} from '../../../domain/console/scripts.js';
import { HostError } from '../../../domain/errors.js';
import type { JsonObject } from '../../../domain/json.js';
import { needsOf } from '../../../domain/profile-name.js';
import type { ScriptHead, ScriptPin } from '../../../domain/script.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import type { Host } from '../../host.js';
import type { SuspendedRuns } from '../../runs/suspended-runs.js';
import { type ScriptOfRun, scriptFromRun } from '../../scripts/script-from-run.js';
import { functionNameOf } from '../../scripts/script-functions.js';
import { checkName } from '../../scripts/stored-scripts.js';

export interface KeptProgramsParts {
  readonly host: Pick<Host, 'scripts' | 'findSyntaxError'>;
  readonly suspended: Pick<SuspendedRuns, 'show' | 'recordingOf'>;
  readonly redactor: Redactor;
}

/** Turns runs into scripts and manages the stored scripts, for the person at the console. */
export class KeptPrograms {
  readonly #parts: KeptProgramsParts;

  constructor(parts: KeptProgramsParts) {
    this.#parts = parts;
  }

  /** The script that `keep` would store. Stores nothing. Throws `bad_input` if the run cannot become a script. */
  async preview(runId: string, wish: KeepRequest): Promise<KeepPreview> {
    const { script, replaced, proposed } = await this.#made(runId, wish);
    const { redactor } = this.#parts;
    const taken = await this.#find(script.name);
    const clean = (schema: JsonObject) => redactor.bulk(schema) as JsonObject;
    return {
      ...{ source: redactor.text(script.source), language: script.language },
      functionName: functionNameOf(script.name),
      inputs: replaced,
      proposed,
      tools: toolNames(script.pins),
      inputSchema: clean(script.inputSchema ?? {}),
      ...omitUndefined({ outputSchema: ifDefined(script.outputSchema, clean), takenVersion: taken?.version }),
    };
  }

  /** Throws `bad_input`, also if the name is taken and `replaces` is false. */
  async keep(runId: string, wish: KeepRequest, replaces: boolean): Promise<KeptProgram> {
    const { script, replaced } = await this.#made(runId, wish);
    // An unchanged program has already run. Classic scripts are parsed by the contract that runs them.
    if (replaced.length > 0 && needsOf(script.profile).program === 'module') {
      const failure = await this.#parts.host.findSyntaxError(script.source, script.language);
      if (failure !== undefined)
        throw new HostError('bad_input', `With these inputs the program cannot be read: ${failure.message}`);
    }
    const { script: kept } = await this.#parts.host.scripts.add(script, { replaces });
    return keptProgram(kept);
  }

  async list(): Promise<ScriptItem[]> {
    const heads = await this.#parts.host.scripts.list();
    return heads.map(itemOf).sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** Throws `not_found`. */
  async detail(name: string): Promise<ScriptDetail> {
    const script = await this.#parts.host.scripts.get(name);
    const { language, inputSchema, outputSchema, fromRun, pins } = script;
    return {
      ...itemOf(script),
      ...{ source: this.#parts.redactor.text(script.source), language, tools: toolNames(pins) },
      ...omitUndefined({ inputSchema, outputSchema, fromRun }),
    };
  }

  async #made(runId: string, wish: KeepRequest): Promise<ScriptOfRun> {
    checkName(wish.name);
    const { suspended } = this.#parts;
    const { profile } = await suspended.show(runId);
    return scriptFromRun(await suspended.recordingOf(runId), profile, wish);
  }

  async #find(name: string): Promise<ScriptHead | undefined> {
    return (await this.#parts.host.scripts.list()).find((each) => each.name === name);
  }
}

function keptProgram({ name, version }: ScriptHead): KeptProgram {
  return { name, version, functionName: functionNameOf(name) };
}

function itemOf(script: ScriptHead): ScriptItem {
  const { description, profile, createdAtMs, savedBy } = script;
  return { ...keptProgram(script), description, profile, createdAtMs, ...omitUndefined({ savedBy }) };
}

function toolNames(pins: readonly ScriptPin[] = []): string[] {
  return pins.map(({ server, tool }) => `${server}/${tool}`);
}
