import { expect, test } from 'vitest';
import { normaliseTool } from './listing.js';

test('a schema that is too large or too deep is left out, and the tool stays', () => {
  const huge = { type: 'object', description: 'x'.repeat(1_000_001) };
  expect(normaliseTool({ name: 'a', inputSchema: huge }, 's')).toMatchObject({
    tool: { serverId: 's', name: 'a' },
    warnings: ['tool "a": its inputSchema is too large or too deep and was left out'],
  });
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
  const { tool } = normaliseTool({ name: 'b', outputSchema: deep }, 's');
  expect(tool).toEqual({ serverId: 's', name: 'b', hasUnusableOutput: true });
});

test('a name is kept to the letter, and quoted with everything to be seen in warnings', () => {
  const name = 'del\u202eete\u001b[2J';
  const { tool, warnings } = normaliseTool({ name, description: 1 }, 's');
  expect(tool?.name).toBe(name);
  expect(warnings).toEqual(['tool "del\\u202eete\\u001b[2J": its description is not text and was left out']);
});
