import type { CallTargets } from '../../domain/run.js';

/** The targets by which programs call capabilities. A test holds them equal to the existing tools. */
export const FETCH_TARGET = 'codemode/network/fetch';
export const FILE_TARGETS: CallTargets = {
  readFile: 'codemode/filesystem/readFile',
  writeFile: 'codemode/filesystem/writeFile',
  listFolder: 'codemode/filesystem/listFolder',
};
