import type { JsonObject } from '../../domain/json.js';
import type { VirtualModule } from '../../domain/run.js';
import type { ScriptHead } from '../../domain/script.js';
import { SCRIPT_EXPORTS, scriptFunctions } from './script-functions.js';

/** `@codemode/scripts`: lets programs run stored scripts, and ask for one to be stored. */

const TARGET = '@scripts/';
/** The target prefix of a script that is called as a function. */
const FUNCTION = `${TARGET}run/`;
export const RUN_SCRIPT = `${TARGET}runScript`;
export const LIST_SCRIPTS = `${TARGET}listScripts`;
export const SAVE_SCRIPT = `${TARGET}save`;

export const SCRIPTS_SPECIFIER = '@codemode/scripts';

export const SCRIPTS_MODULE: VirtualModule = scriptsModule([]);

/** The module with a function for each of these scripts. */
export function scriptsModule(scripts: readonly Pick<ScriptHead, 'name'>[]): VirtualModule {
  return {
    specifier: SCRIPTS_SPECIFIER,
    exports: [
      ...SCRIPT_EXPORTS.map((name) => ({ kind: 'call' as const, name, target: `${TARGET}${name}` })),
      ...[...scriptFunctions(scripts)].map(([script, name]) => ({
        ...{ kind: 'call' as const, name, target: targetOfScript(script) },
      })),
    ],
  };
}

export function isScripts(target: string): boolean {
  return target.startsWith(TARGET);
}

export function targetOfScript(name: string): string {
  return `${FUNCTION}${name}`;
}

/** The script that is called as a function; undefined for other calls. */
export function scriptCalled(target: string): string | undefined {
  return target.startsWith(FUNCTION) ? target.slice(FUNCTION.length) : undefined;
}

/** `@codemode/input`: the input of a stored script. Other programs do not have it. */
export function inputModule(input: JsonObject): VirtualModule {
  return { specifier: '@codemode/input', exports: [{ kind: 'value', name: 'input', value: input }] };
}
