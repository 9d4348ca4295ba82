import type { CatalogServer } from '../snapshot.js';
import { byUsefulness, isLargeServer, parametersOf, type UsedBefore, visibleName } from './server-index.js';
import { estimateTokens } from './tokens.js';

/**
 * The functions of servers with their parameters, one line per server, up to `most` tokens. An index stays within the length that
 * every client shows and has room for names only; a program that guesses a parameter has to be written twice. Left out are servers
 * whose parameters the index already shows, and large servers that were never used: a search finds their tools.
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
