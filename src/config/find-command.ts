import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Environment } from './variables/environment.js';

/** The file that a command starts: found in PATH or, if it has a slash, relative to a folder. Undefined if there is none. */
export function findCommand(command: string, environment: Environment, folder: string): string | undefined {
  if (command.includes('/')) return [resolve(folder, command)].find(isExecutableFile);
  return (environment.PATH ?? '')
    .split(delimiter)
    .filter((each) => each !== '')
    .map((each) => join(each, command))
    .find(isExecutableFile);
}

export function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
