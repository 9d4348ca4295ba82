import { dirname, join } from 'node:path';
import { shellWord } from '../../lib/text/shell-word.js';
import type { FoundFile } from '../files/find-file.js';
import { configFolder } from '../files/user-folders.js';
import { ownCommand } from '../own-command.js';
import type { Environment } from '../variables/environment.js';
import { placesOf, type StartCommand } from './registry.js';

/** How a client starts this program as an MCP server. */
export interface OwnStartCommand extends StartCommand {
  /** What a person types to start this program. */
  readonly shell: string;
  /** The same with the configuration in use here, for a person who types it in another folder. */
  readonly shellAnywhere: string;
}

/** `found`: the configuration in use here; undefined if there is none. */
export function ownStartCommand(environment: Environment, cwd: string, found: FoundFile | undefined): OwnStartCommand {
  const { shell, command, args } = ownCommand(environment, cwd);
  const words = wordsFor(environment, found);
  const shellAnywhere = [shell, ...words.map(shellWord)].join(' ');
  return { shell, shellAnywhere, command, args: [...args, ...words, 'mcp'] };
}

/**
 * The arguments that make the program find the same configuration in any folder. A project's file is never named by `--config`:
 * that would trust any future content of the file. Its folder is named instead, and the file is checked at each start.
 */
function wordsFor(environment: Environment, found: FoundFile | undefined): string[] {
  if (found === undefined) return [];
  if (found.origin === 'project') return ['--project-folder', dirname(found.file)];
  return isUsersOwn(environment, found.file) ? [] : ['--config', found.file];
}

/** Whether the program finds this file from any folder and with any environment variables. */
function isUsersOwn(environment: Environment, configFile: string): boolean {
  const usual = join(placesOf(environment, 'linux').home, '.config', 'codemode');
  return configFolder(environment) === usual && dirname(configFile) === usual;
}
