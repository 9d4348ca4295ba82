import { realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Environment } from '../variables/environment.js';

/**
 * The user's home folder, always an absolute path if the machine knows one. An empty or relative `HOME` does not count: it would
 * turn a file of the current folder into one of the user's own.
 */
export function homeFolder({ HOME: given }: Environment): string {
  return absoluteFolder(given) ?? accountHome();
}

/** A folder named by a variable, if it is an absolute path. Any other path depends on the current folder. */
export function absoluteFolder(given: string | undefined): string | undefined {
  return given !== undefined && isAbsolute(given) ? given : undefined;
}

/**
 * Whether a file belongs to the current folder, and so to the author of the project in it, whatever variable or link leads there.
 * If the current folder is the home folder, everything is the user's. So is the home folder if the current folder is `/` or
 * `/home`.
 */
export function isOfFolder(file: string, environment: Environment, cwd: string): boolean {
  const [real, folder, account] = [realPath(file), realPath(cwd), realPath(accountHome())];
  if (!isInside(real, folder) && !isInside(file, cwd)) return false;
  if (isSameFolder(cwd, homeFolder(environment))) return false;
  return !(isInside(account, folder) && isInside(real, account));
}

export function isSameFolder(one: string, other: string): boolean {
  return realPath(one) === realPath(other);
}

/** Whether a path is below a folder. Both are absolute. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The target of a path, with links followed as far as it exists. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

function accountHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return homedir(); // a user without an entry in the password file
  }
}

/** The folder with the user's own configuration: `$XDG_CONFIG_HOME/codemode`, else `~/.config/codemode`. */
export function configFolder(environment: Environment): string {
  return join(absoluteFolder(environment.XDG_CONFIG_HOME) ?? join(homeFolder(environment), '.config'), 'codemode');
}

/** `~` and `~/x` as a shell reads them. */
export function expandHome(file: string, environment: Environment): string {
  return file === '~' || file.startsWith('~/') ? join(homeFolder(environment), file.slice(1)) : file;
}
