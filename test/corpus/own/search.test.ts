import { expect, test } from 'vitest';
import { createBm25 } from '../../../bench/plain-bm25.mjs';
import { createSearchIndex, type SearchDocument } from '../../../src/catalog/search.js';
import { omitUndefined } from '../../../src/lib/omit-undefined.js';
import { QUERIES } from './queries.mjs';
import { ownToolsets } from './toolsets.mjs';

const documents: SearchDocument[] = ownToolsets().flatMap(({ id, server, description, tools }) =>
  tools.map((tool) => ({
    tool: { ...tool, serverId: id },
    serverName: server,
    ...omitUndefined({ serverDescription: description }),
  })),
);
const idOf = ({ tool }: Pick<SearchDocument, 'tool'>) => `${tool.serverId}/${tool.name}`;
const single = QUERIES.filter(({ needs }) => needs.length === 1);
const several = QUERIES.filter(({ needs }) => needs.length > 1);

interface Index {
  search(query: string, options: { readonly limit: number }): readonly Pick<SearchDocument, 'tool'>[];
}

/** The mean share of the needed tools that are among the first hits. */
function recall(index: Index, queries: typeof QUERIES, limit: number): number {
  const shares = queries.map(({ query, needs }) => {
    const found = index.search(query, { limit }).map(idOf);
    return needs.filter((alternatives) => alternatives.some((id) => found.includes(id))).length / needs.length;
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

test('every tool that a query needs is in the corpus', () => {
  const known = new Set(documents.map(idOf));
  expect(QUERIES.flatMap(({ needs }) => needs.flat()).filter((id) => !known.has(id))).toEqual([]);
});

test('search finds most tools among the first five, and more than plain BM25', () => {
  const ours = createSearchIndex(documents);
  const plain = createBm25(documents) as Index;
  expect(recall(ours, single, 5)).toBeGreaterThan(0.87);
  expect(recall(ours, several, 5)).toBeGreaterThan(0.95);
  expect(recall(ours, single, 5) - recall(plain, single, 5)).toBeGreaterThan(0.05);
  expect(recall(ours, several, 5) - recall(plain, several, 5)).toBeGreaterThan(0.1);
});
