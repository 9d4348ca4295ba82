import { expect, test } from 'vitest';
import { briefCatalog } from '../../src/catalog/briefing/briefing.js';
import { serverInstructions } from '../../src/profiles/codemode/prompt/server-instructions.js';
import { toolDescription } from '../../src/profiles/codemode/prompt/tool-description.js';
import { toolInputSchema, toolOutputSchema } from '../../src/profiles/codemode/prompt/tool-schemas.js';
import { SMALL_CATALOG, snapshotOf } from '../support/catalog.js';

/*
 * What agents read, word for word. A red pin means that every agent reads something else from the next release on: was
 * it meant? `vitest run test/pins -u` writes the new text.
 */

const briefing = briefCatalog(snapshotOf(SMALL_CATALOG));
const index = briefCatalog(snapshotOf(SMALL_CATALOG), { budgetTokens: 200 });
const nothing = briefCatalog(snapshotOf([]));

test.each([
  ['description.md', () => toolDescription({ briefing })],
  ['description-nothing-connected.md', () => toolDescription({ briefing: nothing })],
  ['instructions.md', () => serverInstructions({ briefing, maySave: true })],
  ['instructions-index.md', () => serverInstructions({ briefing: index, maySave: true })],
  ['schemas.txt', () => JSON.stringify({ input: toolInputSchema(), output: toolOutputSchema() }, null, 2)],
])('%s is what it was', async (file, text) => {
  await expect(`${text()}\n`).toMatchFileSnapshot(`./prompt/${file}`);
});
