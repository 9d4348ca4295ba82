import { join } from 'node:path';
import type { Config } from '../schema/schema.js';
import type { Environment } from '../variables/environment.js';
import { homeFolder } from './user-folders.js';

/** Where everything lies that must outlive the program: `$CODEMODE_HOME`, else the user's state folder. */
export function stateFolder(environment: Environment): string {
  const { CODEMODE_HOME: own, XDG_STATE_HOME: state } = environment;
  if (own !== undefined && own !== '') return own;
  if (state?.startsWith('/')) return join(state, 'codemode');
  return join(homeFolder(environment), '.local', 'state', 'codemode');
}

/** Where the type checker is installed on request. */
export function checkerFolder(environment: Environment): string {
  return join(stateFolder(environment), 'checker');
}

/** Programs of root's run as other users, who can read nothing in a folder that is root's own. */
const FOLDER_OF_ROOT = '/var/cache/codemode/go';

/** Where compiled Go is kept: it can be discarded at any time. */
export function goCacheFolder({ go }: Config, environment: Environment, userId: number | undefined): string {
  return go.cacheFolder ?? (userId === 0 ? FOLDER_OF_ROOT : join(stateFolder(environment), 'go'));
}
