// @ts-check
// What an agent reads before its first program, in tokens (o200k), beside all tool definitions up front as JSON.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { CORPUS_NAME, readToolsets } from '../corpus.mjs';
import { loadProduct } from '../product.mjs';
import { scaled, timeEach } from '../stats.mjs';

const NAME = 'tokens that an agent reads at the start';
const BUDGETS = [4_000, 12_000, 25_000];

export async function measure({ quick }) {
  const product = await loadProduct();
  const snapshot = product.snapshotOf(readToolsets());
  const tools = readToolsets().flatMap((server) => server.tools);
  const definitions = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const upFront = countTokens(JSON.stringify(definitions));
  const rows = BUDGETS.map((budgetTokens) => {
    const briefing = product.briefCatalog(snapshot, { budgetTokens });
    const read = [
      JSON.stringify([product.toolInputSchema(), product.toolOutputSchema()]),
      product.toolDescription({ briefing }),
      product.serverInstructions({ briefing }),
    ];
    const value = read.reduce((sum, text) => sum + countTokens(text), 0);
    const note = `${briefing.level}; ${((100 * value) / upFront).toFixed(2)} % of the definitions`;
    return { name: `${NAME}, budget ${budgetTokens}`, value, valueUnit: 'tokens', note };
  });
  const { p50, p95 } = await timeEach(scaled(20, quick), async () => product.briefCatalog(snapshot, {}));
  return [
    {
      name: 'all definitions as JSON up front',
      value: upFront,
      valueUnit: 'tokens',
      note: `${tools.length} tools, ${CORPUS_NAME}`,
    },
    ...rows,
    { name: 'the text for the agent, made anew', unit: 'ms', p50, p95 },
  ];
}
