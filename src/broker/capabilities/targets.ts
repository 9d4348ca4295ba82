import type { CallTargets } from '../../domain/run.js';

/** By which targets programs call what capabilities grant. A test holds them equal to the tools there are. */
export const FETCH_TARGET = 'codemode/network/fetch';
export const FILE_TARGETS: CallTargets = {
  readFile: 'codemode/filesystem/readFile',
  writeFile: 'codemode/filesystem/writeFile',
  listFolder: 'codemode/filesystem/listFolder',
};
