import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptSign } from '../scripts.js';

/** An empty file with a fixed name shows that a script was stored once. */
export function scriptSign(stateFolder: string): ScriptSign {
  const file = join(stateFolder, 'has-scripts');
  return { isSet: () => existsSync(file), set: () => closeSync(openSync(file, 'a', 0o600)) };
}
