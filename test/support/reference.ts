import { join } from 'node:path';

/**
 * The reference material is not a part of the repository: real servers' tool listings and the documents of the contracts.
 * Only the tests of the project `reference` read it, and that project exists only where `CODEMODE_SHARED` names a folder.
 */
export function isReference(): boolean {
  return process.env.CODEMODE_TEST_MATERIAL === 'reference';
}

export function referencePath(...parts: string[]): string {
  const folder = process.env.CODEMODE_SHARED;
  if (folder === undefined || folder === '')
    throw new Error('CODEMODE_SHARED is not set. Set it to the folder of the reference material.');
  return join(folder, ...parts);
}
