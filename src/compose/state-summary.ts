import { stateFolder } from '../config/files/state-folder.js';
import { readEnvironment } from '../config/variables/environment.js';
import type { StateSummary } from '../store/sqlite/state-summary.js';

/** Summarizes the state folder, without its key and without changing anything. */
export async function stateSummary(): Promise<StateSummary> {
  const { summariseState } = await import('../store/sqlite/state-summary.js');
  return summariseState(stateFolder(readEnvironment()), Date.now());
}
