import type { CatalogServer } from '../snapshot.js';

/**
 * The topics of a server, in words that its tools' names have in common: `issue, pull, branch`. The most common come first. Verbs
 * and the server's own name are left out. Only plain words: they go into a text for a model.
 */
export function topicsOf({ tools, path }: CatalogServer, most: number): string[] {
  const own = new Set(wordsIn(path));
  const counts = new Map<string, number>();
  for (const { tool } of tools.slice(0, MAX_TOOLS)) {
    const words = new Set(wordsIn(tool.name).filter((word) => !own.has(word) && !SAYS_NOTHING.has(word)));
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, left], [, right]) => right - left)
    .slice(0, most)
    .map(([word]) => word);
}

const MAX_TOOLS = 2_000;

/** `get_pull_requests` and `getPullRequests` both give get, pull, request. */
function wordsIn(name: string): string[] {
  return name
    .slice(0, 100)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2 && word.length <= 20)
    .map(singular);
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}

const SAYS_NOTHING = new Set(
  (
    'get list create update delete remove add set read write search find fetch query run execute call check make new edit ' +
    'put post patch all many bulk batch insert upsert replace copy move rename open close start stop show describe view ' +
    'send use apply enable disable the and for with from into api mcp tool server info detail data value item name'
  ).split(' '),
);
