import { realpathSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { shellWord } from '../lib/text/shell-word.js';
import { isExecutableFile } from './find-command.js';
import type { Environment } from './variables/environment.js';

/** The command that starts this program again. */
export interface OwnCommand {
  /** The command a person types in a shell in this folder, quoted: `codemode`, `npx codemode` or absolute paths. */
  readonly shell: string;
  /** Absolute: works in every folder and without PATH, as desktop programs need it. */
  readonly command: string;
  readonly args: string[];
}

/** The executable and the script that are running. */
export interface RunningProgram {
  readonly node: string;
  readonly script: string;
}

/**
 * The shortest command that starts this program and no other of the same name: `codemode` if PATH leads here, `npx codemode` if
 * this is the folder's own installation, else the absolute paths.
 */
export function ownCommand(
  environment: Environment,
  cwd: string,
  { node, script }: RunningProgram = { node: process.execPath, script: process.argv[1] ?? '' },
): OwnCommand {
  // Not resolved further: a link such as a package manager's `current` survives an upgrade, but its target does not.
  const own = resolve(cwd, script);
  const target = realPath(own);
  const absolute = { command: node, args: [own] };
  const leadsHere = (file: string | undefined) =>
    file !== undefined && target !== undefined && realPath(file) === target;
  if (leadsHere(onPath(environment, cwd))) return { shell: NAME, ...absolute };
  if (leadsHere(installedAbove(cwd))) return { shell: `npx ${NAME}`, ...absolute };
  return { shell: [node, own].map(shellWord).join(' '), ...absolute };
}

const NAME = 'codemode';

/** The first program of our name on PATH, which a shell would start. */
function onPath(environment: Environment, cwd: string): string | undefined {
  return (
    (environment.PATH ?? '')
      .split(delimiter)
      // npm and npx prepend these to PATH for their children. The person's shell does not have them.
      .filter((folder) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
      .map((folder) => join(resolve(cwd, folder), NAME))
      .find(isExecutableFile)
  );
}

/** The target of `npx codemode`: the nearest installation in this folder or one above it. */
function installedAbove(folder: string): string | undefined {
  const file = join(folder, 'node_modules', '.bin', NAME);
  if (isExecutableFile(file)) return file;
  const above = dirname(folder);
  return above === folder ? undefined : installedAbove(above);
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
