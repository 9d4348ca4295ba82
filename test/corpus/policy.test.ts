import { expect, test } from 'vitest';
import { Policy } from '../../src/broker/policy/policy.js';
import { loadToolsets, ofCorpus } from '../support/corpus.js';

const tools = loadToolsets().flatMap((toolset) => toolset.tools);
const policy = new Policy({ settings: { preset: 'default', rules: [], prices: {}, budget: {} }, servers: new Map() });
const asking = tools
  .map((tool) => ({
    tool,
    ...policy.decide({ tool, serverPath: tool.serverId, caller: 'c', profile: 'codemode', arguments: {} }),
  }))
  .filter(({ decision }) => decision === 'ask');

test('the default policy asks about at most three of ten tools', () => {
  const claimed = asking.filter(({ reason }) => reason.startsWith('its server says'));
  expect({ all: tools.length, asking: asking.length, claimed: claimed.length }).toEqual(
    ofCorpus({
      own: { all: 436, asking: 75, claimed: 45 },
      reference: { all: 1_312, asking: 346, claimed: 308 },
    }),
  );
  expect(asking.length / tools.length).toBeLessThan(0.3);
});

test('a tool that reads by its own claim is not asked about', () => {
  expect(asking.filter(({ tool }) => tool.annotations?.readOnlyHint === true).map(({ tool }) => tool.name)).toEqual([]);
});
