import { HostError } from '../../domain/errors.js';
import type { Inventory } from '../../host/tools/inventory.js';
import { asking, waitFor } from './terminal/progress.js';
import { styled, warn } from './terminal/terminal.js';

/** A catalog on disk that is older than this gets a note. */
const FRESH_MS = 10 * 60 * 1000;
const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long a list of all tools waits for servers. A server that is named has the timeout of its configuration. */
const LIST_WITHIN_MS = 10_000;

/**
 * Loads tools from the catalog on disk, and from servers that it does not know or that are to be refreshed. With names, only
 * these servers are asked and waited for.
 */
export async function loadTools(
  inventory: Inventory,
  isRefresh: boolean,
  names: readonly string[] = [],
): Promise<void> {
  const bound = names.length === 0 ? { withinMs: LIST_WITHIN_MS } : { names };
  await waitFor('asking servers', (say) =>
    inventory.ask(isRefresh ? 'all' : 'unknown', { ...bound, onProgress: asking(say) }),
  );
  const oldestMs = inventory.oldestListingMs();
  const ageMs = oldestMs === undefined ? 0 : Date.now() - oldestMs;
  if (ageMs > FRESH_MS && process.stderr.isTTY === true) {
    const note = `from the catalog on disk, ${roughly(ageMs)} old; --refresh asks the servers again`;
    process.stderr.write(`${styled('dim', note, process.stderr)}\n`);
  }
}

/** Reports which servers did not answer. If nothing could be shown because of that, it is an error. */
export function noteProblems(inventory: Inventory, names: readonly string[]): void {
  // A server that is disabled by a mistake already had its warning. It is reported again if the user named it.
  const reports = inventory.servers().filter(({ state }) => state !== 'disabled' || names.length > 0);
  const wanted =
    names.length === 0 ? reports : reports.filter(({ id, path }) => names.some((n) => n === id || n === path));
  const problems = inventory.problems().filter(({ id }) => wanted.some((report) => report.id === id));
  const [first] = problems;
  if (first !== undefined && wanted.every(({ toolCount }) => toolCount === 0) && problems.length === wanted.length) {
    const rest = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    throw new HostError('upstream_unavailable', `${first.reason}${rest}; what to do about it: codemode servers`);
  }
  warn(
    problems.map(({ reason, hasTools }) =>
      hasTools ? `${reason}; its tools are shown as they were` : `${reason}; what to do about it: codemode servers`,
    ),
  );
}

function roughly(ageMs: number): string {
  if (ageMs >= 2 * DAY_MS) return `${Math.floor(ageMs / DAY_MS)} days`;
  if (ageMs >= 2 * HOUR_MS) return `${Math.floor(ageMs / HOUR_MS)} hours`;
  return `${Math.floor(ageMs / MINUTE_MS)} minutes`;
}
