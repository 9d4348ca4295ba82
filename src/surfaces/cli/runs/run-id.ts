import type { RunView } from '../../../host/host.js';
import type { ComposedRecords } from '../composed.js';
import { resolveId } from './resolve-id.js';

/** What `--help` says of an argument that names a run. */
export const RUN_ARGUMENT = 'its id, or the first 4 or more characters of it, or last';

/** Runs that these commands made to try the program out: `codemode runs` leaves them out, and `last` is none of them. */
const MEASURING: ReadonlySet<string> = new Set(['demo', 'measure', 'doctor']);
/** So many runs are looked through. A hundred runs of one `demo` would hide what a person or an agent has run. */
const MAX_LOOKED_AT = 1_000;

/** The newest runs, without those that only tried the program out. */
export async function usersRuns(suspended: ComposedRecords['suspended']): Promise<RunView[]> {
  return (await suspended.list(MAX_LOOKED_AT)).filter(({ caller }) => !MEASURING.has(caller));
}

/** The run that somebody means, as `codemode runs` lists it. */
export function runIdOf(suspended: ComposedRecords['suspended'], given: string): Promise<string> {
  return resolveId(given, {
    noun: 'run',
    listedBy: 'codemode runs',
    idsWith: (prefix, limit) => suspended.idsWith(prefix, limit),
    latest: async () => (await usersRuns(suspended))[0]?.runId,
  });
}
