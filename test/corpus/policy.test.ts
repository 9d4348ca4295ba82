import { expect, test } from 'vitest';
import { judgeName } from '../../src/broker/policy/words.js';
import { loadToolsets, ofCorpus } from '../support/corpus.js';

const isDangerous = (name: string) => judgeName(name).isDangerous;
const tools = loadToolsets().flatMap((toolset) => toolset.tools);
const named = tools.filter(({ name }) => isDangerous(name));

test('few names are dangerous, and few more tools with what servers claim themselves', () => {
  const asking = tools.filter(({ name, annotations }) => isDangerous(name) || annotations?.destructiveHint === true);
  expect({ all: tools.length, named: named.length, asking: asking.length }).toEqual(
    ofCorpus({
      own: { all: 436, named: 60, asking: 71 },
      reference: { all: 1_312, named: 142, asking: 342 },
    }),
  );
});

test('a tool that reads by its own claim is hardly ever asked about for its name', () => {
  const readers = named.filter(({ annotations }) => annotations?.readOnlyHint === true);
  expect(readers.map(({ name }) => name)).toEqual(ofCorpus({ own: [], reference: ['netlify-deploy-services-reader'] }));
});
