import { dirname, join } from 'node:path';
import type { Environment } from '../environment.js';
import { ownCommand } from '../own-command.js';
import { configFolder } from '../user-folders.js';
import { placesOf, type StartCommand } from './registry.js';

/** How a client starts this program as an MCP server. */
export interface StartOfUs extends StartCommand {
  /** What a person types to start this program. */
  readonly shell: string;
}

/** `configFile`: the configuration that counts here; undefined where there is none. */
export function startOfUs(environment: Environment, cwd: string, configFile: string | undefined): StartOfUs {
  const { shell, command, args } = ownCommand(environment, cwd);
  const isFoundAnyway = configFile === undefined || isUsersOwn(environment, configFile);
  return { shell, command, args: [...args, ...(isFoundAnyway ? [] : ['--config', configFile]), 'mcp'] };
}

/** A file that the program finds in whatever folder and with whatever variables a client starts it. */
function isUsersOwn(environment: Environment, configFile: string): boolean {
  const usual = join(placesOf(environment, 'linux').home, '.config', 'codemode');
  return configFolder(environment) === usual && dirname(configFile) === usual;
}
