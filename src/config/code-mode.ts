import { HostError } from '../domain/errors.js';
import { nearest } from '../lib/nearest.js';
import type { Config } from './schema.js';

/** Which tools go to programs: as the named model has it, else as everybody has it. Throws `bad_input`. */
export function codeModeOf({ defaults, models }: Config, modelRef?: string): Config['defaults']['codeMode'] {
  if (modelRef === undefined) return defaults.codeMode;
  const model = models.find(({ ref }) => ref === modelRef);
  if (model !== undefined) return model.codeMode;
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
