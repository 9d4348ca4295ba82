import { HostError } from '../../domain/errors.js';
import type { Environment } from './environment.js';

/** How many codemode processes are above this one: each tells the servers that it starts. */
const DEPTH = 'CODEMODE_DEPTH';
/** A host may be a server of a host. One that is a server of itself has no end, and each level is a process. */
const MAX_DEPTH = 4;

/** What servers are told, so that a codemode among them can tell. Throws `bad_config` where this one is too deep down. */
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
