// @ts-check
// What an agent reads before its first program, in tokens (o200k), beside all tool definitions up front as JSON; and what it
// reads of answers.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { answerRows } from '../answer-tokens.mjs';
import { CORPUS_NAME, readToolsets } from '../corpus.mjs';
import { loadProduct } from '../product.mjs';
import { scaled, timeEach } from '../stats.mjs';

const HITS = 20;
const NAME = 'tokens that an agent reads at the start';
/** Connected tools, and what an agent may read before its first program. Nobody makes it grow unseen. */
const TOOLS = [{ count: 10 }, { count: 100 }, { count: 488, goal: { atMost: 2_500 } }, { count: 2_000 }];

export async function measure({ quick }) {
  const product = await loadProduct();
  const snapshot = product.snapshotOf(readToolsets());
  const tools = readToolsets().flatMap((server) => server.tools);
  const definitions = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const upFront = countTokens(JSON.stringify(definitions));
  const rows = TOOLS.map(({ count, goal }) => {
    const briefing = product.briefCatalog(product.snapshotOf(take(count)), {});
    const parts = [
      JSON.stringify([product.toolInputSchema(), product.toolOutputSchema()]),
      product.toolDescription({ briefing }),
      product.serverInstructions({ briefing }),
    ].map((text) => countTokens(text));
    const value = parts.reduce((sum, part) => sum + part, 0);
    const note = `${briefing.level}; schemas, description, instructions: ${parts.join(', ')}`;
    return { name: `${NAME}, ${count} tools`, value, valueUnit: 'tokens', note, ...(goal && { goal }) };
  });
  const search = searchRow(product, snapshot);
  const { p50, p95 } = await timeEach(scaled(20, quick), async () => product.briefCatalog(snapshot, {}));
  return [
    {
      name: 'all definitions as JSON up front',
      value: upFront,
      valueUnit: 'tokens',
      note: `${tools.length} tools, ${CORPUS_NAME}`,
    },
    ...rows,
    search,
    { name: 'the text for the agent, rebuilt', unit: 'ms', p50, p95 },
    ...(await answerRows()),
  ];
}

/** Twenty hits as `searchTools` gives them, the median over different hits. */
function searchRow(product, snapshot) {
  const tools = snapshot.servers.flatMap((server) => server.tools);
  const step = Math.max(1, Math.floor(tools.length / HITS));
  const totals = Array.from({ length: step }, (_, first) => {
    const hits = Array.from({ length: HITS }, (__, index) => tools[(first + index * step) % tools.length]);
    const results = hits.map((hit) => ({ serverId: hit.server.path, ...product.toolDefinition(hit, 'description') }));
    return countTokens(JSON.stringify({ query: 'a few words', results }));
  }).sort((left, right) => left - right);
  const value = totals[Math.floor(totals.length / 2)];
  return { name: `tokens of a search with ${HITS} hits`, value, valueUnit: 'tokens', goal: { atMost: 2_200 } };
}

/** So many tools, from the first servers of the corpus; servers come again under other names where they are too few. */
function take(count) {
  const servers = [];
  let left = count;
  for (let round = 1; left > 0; round += 1)
    for (const server of readToolsets()) {
      if (left === 0) break;
      const tools = server.tools.slice(0, left);
      servers.push({ ...server, id: round === 1 ? server.id : `${server.id}-${round}`, tools });
      left -= tools.length;
    }
  return servers;
}
