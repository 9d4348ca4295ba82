import { join } from 'node:path';
import type { Config } from '../schema/schema.js';
import type { Environment } from '../variables/environment.js';
import { homeFolder } from './user-folders.js';

/** The folder for everything that must outlive the process: `$CODEMODE_HOME`, else the user's state folder. */
export function stateFolder(environment: Environment): string {
  const { CODEMODE_HOME: own, XDG_STATE_HOME: state } = environment;
  if (own !== undefined && own !== '') return own;
  if (state?.startsWith('/')) return join(state, 'codemode');
  return join(homeFolder(environment), '.local', 'state', 'codemode');
}

/** The folder for the type checker, which is installed on request. */
export function checkerFolder(environment: Environment): string {
  return join(stateFolder(environment), 'checker');
}

/** Programs started by root run as other users, who cannot read root's own folders. */
const FOLDER_OF_ROOT = '/var/cache/codemode/go';

/** The folder for compiled Go. It can be discarded at any time. */
export function goCacheFolder({ go }: Config, environment: Environment, userId: number | undefined): string {
  return go.cacheFolder ?? (userId === 0 ? FOLDER_OF_ROOT : join(stateFolder(environment), 'go'));
}
