import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptSign } from '../scripts.js';

/** An empty file of a fixed name says that a script was stored once. */
export function scriptSign(stateFolder: string): ScriptSign {
  const file = join(stateFolder, 'has-scripts');
  return { isSet: () => existsSync(file), set: () => closeSync(openSync(file, 'a', 0o600)) };
}
