import type { JsonObject } from '../../domain/json.js';
import type { VirtualModule } from '../../domain/run.js';

/** `@codemode/scripts`: programs that a person has stored, for programs to run. There is no way to store one from here. */

const TARGET = '@scripts/';
export const RUN_SCRIPT = `${TARGET}runScript`;
export const LIST_SCRIPTS = `${TARGET}listScripts`;

export const SCRIPTS_MODULE: VirtualModule = {
  specifier: '@codemode/scripts',
  exports: [
    { kind: 'call', name: 'listScripts', target: LIST_SCRIPTS },
    { kind: 'call', name: 'runScript', target: RUN_SCRIPT },
  ],
};

export function isScripts(target: string): boolean {
  return target.startsWith(TARGET);
}

/** `@codemode/input`: what a stored script was run with. Other programs do not have it. */
export function inputModule(input: JsonObject): VirtualModule {
  return { specifier: '@codemode/input', exports: [{ kind: 'value', name: 'input', value: input }] };
}
