import { expect, test } from 'vitest';
import { snapshotOf } from '../../../test/support/catalog.js';
import { goBriefing } from './go-package.js';

const input = { type: 'object', properties: { id: { type: 'string' } } } as const;
const tools = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}_${index}`, inputSchema: input }));
const forCode = snapshotOf([
  { id: 'alpha', tools: tools('alpha', 20) },
  { id: 'beta', tools: tools('beta', 30) },
]);
const usedBefore = new Map([['beta', 8]]);

/** Where the first function of each server stands. */
function order(text: string): string[] {
  return ['alpha', 'beta'].sort((one, other) => text.indexOf(`${one}0`) - text.indexOf(`${other}0`));
}

test('declarations of servers used before come first, and small ones where none was', () => {
  const whole = { forCode, promptTokens: 100_000 };
  expect(order(goBriefing(whole).declarations)).toEqual(['alpha', 'beta']);
  const used = goBriefing({ ...whole, usedBefore });
  expect(used.level).toBe('declarations');
  expect(order(used.declarations)).toEqual(['beta', 'alpha']);
  // Types come before the function that uses them first, as without an order.
  expect(used.declarations.indexOf('type Beta0Input struct')).toBeLessThan(used.declarations.indexOf('var beta0 '));
  expect([...used.declarations].sort()).toEqual([...goBriefing(whole).declarations].sort());
});

test('an index of those that do not fit keeps the order and marks tools that ask', () => {
  const [alpha, beta] = forCode.servers;
  const asking = {
    ...forCode,
    servers: [alpha, { ...beta, tools: beta?.tools.map((tool) => ({ ...tool, asks: true })) }],
  } as typeof forCode;
  const { level, index, declarations } = goBriefing({ forCode: asking, promptTokens: 1_600, usedBefore });
  expect(level).toBe('index');
  expect(index.indexOf('- beta')).toBeLessThan(index.indexOf('- alpha'));
  expect(declarations).toContain('@asks');
});
