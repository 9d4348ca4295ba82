import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './environment.js';

/**
 * The user's home folder, always an absolute path where the machine knows one. An empty or relative `HOME` does not
 * count: it would turn a file of the current folder into one of the user's own.
 */
export function homeFolder({ HOME: given }: Environment): string {
  if (given !== undefined && isAbsolute(given)) return given;
  try {
    return userInfo().homedir;
  } catch {
    return homedir(); // a user without an entry in the password file
  }
}

/** The folder with the user's own configuration: `$XDG_CONFIG_HOME/codemode`, else `~/.config/codemode`. */
export function configFolder(environment: Environment): string {
  const base = environment.XDG_CONFIG_HOME;
  return join(base?.startsWith('/') ? base : join(homeFolder(environment), '.config'), 'codemode');
}

/** `~` and `~/x` as a shell reads them. */
export function expandHome(file: string, environment: Environment): string {
  return file === '~' || file.startsWith('~/') ? join(homeFolder(environment), file.slice(1)) : file;
}
