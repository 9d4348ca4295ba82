import { stateFolder } from '../config/files/state-folder.js';
import { readEnvironment } from '../config/variables/environment.js';
import type { StateGlance } from '../store/glance.js';

/** What lies in the state folder, without its key and without changing anything. */
export async function glance(): Promise<StateGlance> {
  const { glanceAt } = await import('../store/glance.js');
  return glanceAt(stateFolder(readEnvironment()), Date.now());
}
