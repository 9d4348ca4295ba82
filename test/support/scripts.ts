import { openRecords } from '../../src/compose/records.js';
import { LedgerHome } from './ledger.js';
import { storeIn } from './store.js';

/** A ledger's home in which scripts are stored. */
export class ScriptsHome extends LedgerHome {
  /** Stores a program from stdin. */
  add(name: string, source: string, ...flags: string[]) {
    return this.run(['scripts', 'add', name, '-', ...flags], { input: source });
  }

  /** The same for those that are to be there and are not what is tested: without a process for each. */
  async have(scripts: Readonly<Record<string, string>>): Promise<void> {
    const store = storeIn(this.path('state'));
    const records = openRecords({ store, fingerprintOf: () => '', setting: '', expireAfterMs: 1_000 });
    for (const [name, source] of Object.entries(scripts))
      await records.scripts.add({ name, source, description: '', profile: 'codemode', language: 'typescript' });
    await records.close();
  }

  /** The stored scripts that the recorded runs ran, and the numbers and targets of their calls, by the profile of the run. */
  async nested(): Promise<Map<string, { name: string; byCall: number; calls: string[] }[]>> {
    const store = storeIn(this.path('state'));
    const records = openRecords({ store, fingerprintOf: () => '', setting: '', expireAfterMs: 1_000 });
    const found = new Map<string, { name: string; byCall: number; calls: string[] }[]>();
    for (const { runId, profile } of await records.suspended.list(100)) {
      const scripts = (await records.suspended.recordingOf(runId))?.notes?.scripts ?? [];
      const ran = scripts.map(({ name, byCall, calls }) => ({
        name,
        byCall,
        calls: calls.map(({ target }) => target),
      }));
      found.set(profile, [...(found.get(profile) ?? []), ...ran]);
    }
    await records.close();
    return found;
  }

  /** Runs a stored script from the command line. */
  script(name: string, ...flags: string[]) {
    return this.run(['--config', this.config, 'scripts', 'run', name, ...flags]);
  }
}
