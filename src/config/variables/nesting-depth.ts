import { HostError } from '../../domain/errors.js';
import type { Environment } from './environment.js';

/** How many codemode processes are above this one. Each passes the count to the servers that it starts. */
const DEPTH = 'CODEMODE_DEPTH';
/** A host may be a server of a host. A host that is its own server never stops, and each level is a process. */
const MAX_DEPTH = 4;

/** The variable for the servers, so that a codemode among them knows its depth. Throws `bad_config` if this one is too deep. */
export function depthForServers(environment: Environment): Readonly<Record<string, string>> {
  const given = environment[DEPTH] ?? '';
  const depth = /^\d{1,3}$/.test(given) ? Number(given) : 0;
  if (depth < MAX_DEPTH) return { [DEPTH]: String(depth + 1) };
  throw new HostError(
    'bad_config',
    `codemode was started by codemode ${depth} levels deep, so its configuration probably starts itself; ` +
      'remove the server that starts codemode from mcpServers',
  );
}
