import { IS_STARTING } from '../../domain/upstream.js';
import { quoteVisibly } from '../../lib/text/visible-text.js';
import { pythonString } from '../declarations/python/python-text.js';
import type { CatalogServer } from '../snapshot.js';

/**
 * Why nothing can be imported from a server that has no tools because of a problem. The import fails with this message, instead of
 * a missing function later.
 */
export function unavailabilityOf({ id, tools, problem, isStarting }: CatalogServer): string | undefined {
  if (tools.length > 0) return undefined;
  if (isStarting === true) return `server ${id} ${IS_STARTING}`;
  if (problem === undefined) return undefined;
  return `server ${id} is not available: ${problem}. Continue without it, or ask the user to check it with: codemode servers`;
}

/** The Node module of an unavailable server. Its code makes the import fail. */
export function unavailableNodeModule(reason: string): string {
  return `throw Object.assign(new Error(${quoteVisibly(reason)}), { code: "ERR_MODULE_NOT_FOUND" });\n`;
}

export function unavailablePythonModule(reason: string): string {
  return `raise ImportError(${pythonString(reason)})\n`;
}
