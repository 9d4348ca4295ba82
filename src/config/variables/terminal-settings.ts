import type { Environment } from './environment.js';

/** Whether text is coloured: always, never, or only on a terminal. */
export type ColourChoice = 'always' | 'never' | 'terminal';

/**
 * `FORCE_COLOR` and `NO_COLOR`, as other programs read them: empty means unset, `FORCE_COLOR=0` means no colour, and `FORCE_COLOR`
 * wins if both are set, as in Node itself.
 */
export function colourChoice(
  { FORCE_COLOR: force = '', NO_COLOR: none = '' }: Environment = process.env,
): ColourChoice {
  if (force !== '') return force === '0' || force === 'false' ? 'never' : 'always';
  return none === '' ? 'terminal' : 'never';
}

/** `COLUMNS`, if it is exported and valid. */
export function columnsSetting({ COLUMNS: given = '' }: Environment = process.env): number | undefined {
  const columns = Number(given);
  return /^\d{1,5}$/.test(given) && columns > 0 ? columns : undefined;
}
