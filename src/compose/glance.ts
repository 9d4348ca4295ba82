import { stateFolder } from '../config/files/state-folder.js';
import { readEnvironment } from '../config/variables/environment.js';
import type { StateGlance } from '../store/sqlite/glance.js';

/** What lies in the state folder, without its key and without changing anything. */
export async function glance(): Promise<StateGlance> {
  const { glanceAt } = await import('../store/sqlite/glance.js');
  return glanceAt(stateFolder(readEnvironment()), Date.now());
}
