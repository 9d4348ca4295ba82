import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './environment.js';

/** Where everything lies that must outlive the program: `$CODEMODE_HOME`, else the user's state folder. */
export function stateFolder(environment: Environment): string {
  const { CODEMODE_HOME: own, XDG_STATE_HOME: state, HOME: home } = environment;
  if (own !== undefined && own !== '') return own;
  if (state?.startsWith('/')) return join(state, 'codemode');
  return join(home !== undefined && home !== '' ? home : homedir(), '.local', 'state', 'codemode');
}
