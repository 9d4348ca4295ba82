import { stateFolder } from '../config/files/state-folder.js';
import { readEnvironment } from '../config/variables/environment.js';
import { type Quarantine, Quarantines } from '../store/quarantines.js';
import type { UpstreamRegistry } from '../upstream/registry.js';

/** Tells other processes which servers this one has quarantined. A part of `compose/compose.ts`. */
export function tellQuarantines(registry: UpstreamRegistry): void {
  const quarantines = new Quarantines(stateFolder(readEnvironment()));
  registry.onEvent((event) => {
    if (event.type !== 'state' || event.health.state !== 'quarantined') return;
    const { reason = 'it sent too much', quarantinedUntilMs } = event.health;
    if (quarantinedUntilMs !== undefined) void quarantines.add(event.id, reason, quarantinedUntilMs);
  });
}

/** The servers that running hosts have in quarantine now. */
export function quarantinesElsewhere(): Promise<Quarantine[]> {
  return new Quarantines(stateFolder(readEnvironment())).list(Date.now());
}
