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

  /** Runs a stored script from the command line. */
  script(name: string, ...flags: string[]) {
    return this.run(['--config', this.config, 'scripts', 'run', name, ...flags]);
  }
}
