import { checkerFolder } from '../config/files/state-folder.js';
import { readEnvironment } from '../config/variables/environment.js';
import { TESTED_VERSION } from '../sandbox/checker/compiler.js';
import { installCompiler } from '../sandbox/checker/install.js';

/** Downloads the type checker into the state folder, on request. Codemode downloads nothing else for itself. */
export async function installChecker(): Promise<{ readonly version: string; readonly folder: string }> {
  const folder = checkerFolder(readEnvironment());
  await installCompiler(folder);
  return { version: TESTED_VERSION, folder };
}
