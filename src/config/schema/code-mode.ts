import { HostError } from '../../domain/errors.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { nearest } from '../../lib/text/nearest.js';
import type { Config } from './schema.js';

/** Which tools are available to programs, and what the agent is told about them. */
export type ConfiguredCodeMode = Config['defaults']['codeMode'] & { readonly promptTokens?: number };

/** The defaults, overridden by the settings of the named model. Throws `bad_input` for an unknown model. */
export function codeModeOf({ defaults, models, prompt }: Config, modelRef?: string): ConfiguredCodeMode {
  const budget = omitUndefined({ promptTokens: prompt.tokenBudget });
  if (modelRef === undefined) return { ...defaults.codeMode, ...budget };
  const model = models.find(({ ref }) => ref === modelRef);
  if (model !== undefined) {
    const { enabled = defaults.codeMode.enabled, excludedTools = defaults.codeMode.excludedTools } = model.codeMode;
    return { enabled, excludedTools, ...budget };
  }
  const refs = models.map(({ ref }) => ref);
  const close = nearest(modelRef, refs, 3);
  const advice =
    close.length > 0
      ? `did you mean ${close.join(' or ')}?`
      : refs.length === 0
        ? 'the configuration has no models: add one under models, or leave --model out'
        : `use one of: ${refs.slice(0, 20).join(', ')}`;
  throw new HostError('bad_input', `there is no model ${JSON.stringify(modelRef)} in the configuration; ${advice}`);
}
