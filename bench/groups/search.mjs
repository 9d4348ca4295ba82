// @ts-check
// Tool search: how long it takes, and how many needed tools it finds beside plain BM25. `npm run bench:search` says more.
import { CORPUS_NAME, readRetrievalTasks, toolsetDocuments } from '../corpus.mjs';
import { createBm25 } from '../plain-bm25.mjs';
import { loadProduct } from '../product.mjs';
import { scaled, timeEach } from '../stats.mjs';

const NAME = 'search over 2,000 tools, one query';
const TOOLS = 2_000;
const CUT = 5;

export async function measure({ quick }) {
  const { createSearchIndex } = await loadProduct();
  const { documents, tasks } = readRetrievalTasks();
  const index = createSearchIndex(manyOf([...toolsetDocuments(), ...documents]));
  const questions = tasks.flatMap(({ query, steps }) => [query, ...steps]);
  let next = 0;
  const ask = async () => index.search(questions[next++ % questions.length], { limit: 10 });
  for (let done = 0; done < questions.length; done++) await ask();
  const { p50, p95 } = await timeEach(scaled(2_000, quick), ask);
  const ours = recall(createSearchIndex(documents), tasks);
  const plain = recall(createBm25(documents), tasks);
  return [
    { name: NAME, unit: 'ms', p50, p95, goal: { p50: 1 } },
    {
      name: `needed tools among the first ${CUT} hits, whole tasks`,
      value: ours,
      valueUnit: '%',
      note: `plain BM25 finds ${plain.toFixed(1)} %; ${tasks.length} tasks over ${documents.length} tools, ${CORPUS_NAME}`,
    },
  ];
}

function manyOf(documents) {
  return Array.from({ length: TOOLS }, (_, position) => {
    const { tool, ...server } = documents[position % documents.length];
    const copy = Math.floor(position / documents.length);
    return { ...server, tool: { ...tool, serverId: `${tool.serverId}${copy === 0 ? '' : `-${copy}`}` } };
  });
}

/** The tasks name tools without their server: any server's tool of that name counts. */
function recall(index, tasks) {
  const shares = tasks.map(({ query, expectedToolNames }) => {
    const found = index.search(query, { limit: CUT }).map(({ tool }) => tool.name);
    return expectedToolNames.filter((name) => found.includes(name)).length / expectedToolNames.length;
  });
  return (100 * shares.reduce((sum, share) => sum + share, 0)) / tasks.length;
}
