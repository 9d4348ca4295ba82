import type { ComposedRecords } from './composed.js';
import { resolveId } from './resolve-id.js';

/** What `--help` says of an argument that names a run. */
export const RUN_ARGUMENT = 'its id, or the first 4 or more characters of it, or last';

/** The run that somebody means, as `codemode runs` lists it. */
export function runIdOf(sleeping: ComposedRecords['sleeping'], given: string): Promise<string> {
  return resolveId(given, {
    noun: 'run',
    listedBy: 'codemode runs',
    idsWith: (prefix, limit) => sleeping.idsWith(prefix, limit),
    latest: async () => (await sleeping.list(1))[0]?.runId,
  });
}
