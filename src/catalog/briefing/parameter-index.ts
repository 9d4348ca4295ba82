import type { CatalogServer } from '../snapshot.js';
import { byUsefulness, isLargeServer, parametersOf, type UsedBefore, visibleName } from './server-index.js';
import { estimateTokens } from './tokens.js';

/**
 * The functions of servers with their parameters, a line for each server, as far as `most` tokens go. An index keeps to what
 * every client shows and has room for names alone; a program that guesses a parameter is written twice. Servers whose functions
 * are in the index with their parameters are left out, and so are large ones that were never used: a search finds their tools.
 */
export function parameterIndex(
  servers: readonly CatalogServer[],
  index: string,
  most: number,
  used: UsedBefore = new Map(),
): string {
  let left = most;
  const lines = byUsefulness(servers, used).map((server) => {
    if (isLargeServer(server) && !used.has(server.path)) return '';
    const told = server.tools.flatMap((tool) => {
      const parameters = parametersOf(tool);
      return parameters === '' ? [] : [`${visibleName(tool)}${parameters}`];
    });
    if (told.every((each) => index.includes(each))) return '';
    const line = `- ${server.path}: ${told.join(', ')}\n`;
    const cost = estimateTokens(line);
    if (cost > left) return '';
    left -= cost;
    return line;
  });
  return lines.join('');
}
