import { readEnvironment } from './config/environment.js';
import { stateFolder } from './config/state-folder.js';
import type { StateGlance } from './store/glance.js';

/** What lies in the state folder, without its key and without changing anything. */
export async function glance(): Promise<StateGlance> {
  const { glanceAt } = await import('./store/glance.js');
  return glanceAt(stateFolder(readEnvironment()), Date.now());
}
