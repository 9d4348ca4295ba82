import { APPROVALS } from './migrations/approvals.js';
import { APPROVALS_BY_CALLER } from './migrations/approvals-by-caller.js';
import { AUDIT } from './migrations/audit.js';
import { AUDIT_CALLS } from './migrations/audit-calls.js';
import { CONSOLE } from './migrations/console.js';
import { CONSOLE_HOST_MARKS } from './migrations/console-host-marks.js';
import { CREDENTIALS } from './migrations/credentials.js';
import { PRESENCE } from './migrations/presence.js';
import { RUN_FIGURES } from './migrations/run-figures.js';
import { RUN_MODULES } from './migrations/run-modules.js';
import { RUN_STATES } from './migrations/run-states.js';
import { RUN_TITLES } from './migrations/run-titles.js';
import { RUNS } from './migrations/runs.js';
import { RUNS_BY_CALLER } from './migrations/runs-by-caller.js';
import { SCRIPTS } from './migrations/scripts.js';
import { SPENDING } from './migrations/spending.js';
import { UNDONE } from './migrations/undone.js';

/** What each version adds to the file, in order. Released migrations are never changed: existing files have already applied them. */
export const MIGRATIONS: readonly string[] = [
  RUNS,
  APPROVALS,
  SPENDING,
  CREDENTIALS,
  AUDIT,
  SCRIPTS,
  AUDIT_CALLS,
  RUN_TITLES,
  RUNS_BY_CALLER,
  RUN_STATES,
  CONSOLE,
  CONSOLE_HOST_MARKS,
  APPROVALS_BY_CALLER,
  PRESENCE,
  RUN_MODULES,
  UNDONE,
  RUN_FIGURES,
];
