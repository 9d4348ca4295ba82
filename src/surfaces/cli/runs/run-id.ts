import type { RunView } from '../../../host/host.js';
import type { ComposedRecords } from '../composed.js';
import { resolveId } from './resolve-id.js';

/** Help text of an argument that names a run. */
export const RUN_ARGUMENT = 'its id, or the first 4 or more characters of it, or last';

/** Callers of trial runs by these commands. `codemode runs` does not list them, and `last` skips them. */
const MEASURING: ReadonlySet<string> = new Set(['demo', 'measure', 'doctor']);
/** Number of runs searched: a hundred runs of one `demo` would otherwise hide those of a person or an agent. */
const MAX_LOOKED_AT = 1_000;

/** The newest runs, without trial runs. */
export async function usersRuns(suspended: ComposedRecords['suspended']): Promise<RunView[]> {
  return (await suspended.list(MAX_LOOKED_AT)).filter(({ caller }) => !MEASURING.has(caller));
}

/** The id of the run that the user means, as `codemode runs` lists it. `state`: `last` is the newest run in it, if there is one. */
export function runIdOf(
  suspended: ComposedRecords['suspended'],
  given: string,
  state?: RunView['state'],
): Promise<string> {
  return resolveId(given, {
    noun: 'run',
    listedBy: 'codemode runs',
    idsWith: (prefix, limit) => suspended.idsWith(prefix, limit),
    latest: async () => {
      const runs = await usersRuns(suspended);
      return (runs.find((run) => run.state === state) ?? runs[0])?.runId;
    },
  });
}
