import { APPROVALS } from '../migrations/approvals.js';
import { AUDIT } from '../migrations/audit.js';
import { HOSTS } from '../migrations/hosts.js';
import { IDENTITY } from '../migrations/identity.js';
import { RUN_FIGURES } from '../migrations/run-figures.js';
import { RUNS } from '../migrations/runs.js';
import { SHARED } from '../migrations/shared.js';
import { UNDONE } from '../migrations/undone.js';

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /**
   * The oldest program version, as the number of migrations it knows, that still works once this migration is applied. Default: the
   * previous version. Two builds serve at once during a rolling upgrade, so a migration only adds. A later migration drops what it
   * replaces.
   */
  readonly worksWith?: number;
}

/** What each version adds to the schema, in order. Released migrations are never changed. */
export const MIGRATIONS: readonly Migration[] = [
  { name: 'identity', sql: IDENTITY, worksWith: 1 },
  { name: 'hosts', sql: HOSTS },
  { name: 'runs', sql: RUNS },
  { name: 'approvals', sql: APPROVALS },
  { name: 'audit', sql: AUDIT },
  { name: 'shared', sql: SHARED },
  { name: 'undone', sql: UNDONE, worksWith: 6 },
  { name: 'run-figures', sql: RUN_FIGURES, worksWith: 6 },
];
