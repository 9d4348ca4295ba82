import type { Program } from '../../domain/run.js';
import type { ScriptHead } from '../../domain/script.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { inputModule } from '../scripts/scripts-module.js';
import { apiModulesOf, bodyFormOf } from '../tools/api-module.js';
import { modulesWith } from '../tools/modules.js';
import type { ToolView } from '../tools/tool-view.js';
import type { RunRequest } from './run-types.js';

/** The modules that a program may import, or the form of a script or function body, which import nothing. */
export function programForm(
  { input, script, context, engine }: RunRequest,
  { forCode }: ToolView,
  scripts: readonly ScriptHead[],
): Pick<Program, 'modules' | 'blocking' | 'script' | 'body' | 'engine'> {
  const wanted = omitUndefined({ engine });
  if (context !== undefined) return { modules: apiModulesOf(forCode), body: bodyFormOf(context), ...wanted };
  if (script !== undefined)
    return {
      modules: [],
      blocking: true,
      script: { input: script.input, calls: [script.callTool, script.callScript] },
    };
  const shared = modulesWith(forCode, scripts);
  return { modules: input === undefined ? shared : [...shared, inputModule(input)], ...wanted };
}
