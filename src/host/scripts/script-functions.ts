import { exportNames } from '../../catalog/names.js';
import type { ScriptHead } from '../../domain/script.js';

/** What the module exports besides a function for each script. */
export const SCRIPT_EXPORTS = ['listScripts', 'runScript', 'save'] as const;

const RESERVED: ReadonlySet<string> = new Set(SCRIPT_EXPORTS);

/** The name of a script's function in `@codemode/scripts`: `monthly-report` is `monthly_report`. */
export function functionNameOf(name: string): string {
  const clean = exportNames([name]).get(name) as string;
  return RESERVED.has(clean) ? `${clean}_` : clean;
}

/**
 * Function names by script name. If two scripts map to one function, the script with exactly that name gets it, whichever was
 * stored first. The other is run by its name.
 */
export function scriptFunctions(scripts: readonly Pick<ScriptHead, 'name'>[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { name } of scripts) {
    const clean = functionNameOf(name);
    if (!owners.has(clean) || clean === name) owners.set(clean, name);
  }
  return new Map([...owners].map(([clean, name]) => [name, clean]));
}
