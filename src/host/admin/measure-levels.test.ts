import { expect, test } from 'vitest';
import { judge } from './measure-levels.js';

const REPORT = { tools: 80, definitions: 10_000, catalog: 3_000, level: 'full', perServer: 500, perTool: 120 };
const CHOICES = [
  { level: 'full', tokenBudget: 11_000, tokens: 14_000 },
  { level: 'compact', tokenBudget: 6_000, tokens: 9_000 },
  { level: 'signatures', tokenBudget: 3_500, tokens: 6_500 },
  { level: 'index', tokenBudget: 1_000, tokens: 4_000 },
];

test('few tools are better given to the model directly, and their number is named', () => {
  const verdict = judge({ ...REPORT, tools: 3, definitions: 400 }, CHOICES);
  expect(verdict).toEqual({
    isWorthIt: false,
    reason:
      'you have 3 tools with 400 tokens of definitions, fewer than 10 tools and 10000 tokens: give them to the model directly',
  });
});

test('a setting that saves a quarter or more is left as it is', () => {
  expect(judge(REPORT, CHOICES)).toEqual({
    isWorthIt: true,
    reason: 'an agent reads 3000 tokens instead of 10000: 70.0 % less',
  });
});

test('what comes later is named where not everything is declared at once', () => {
  expect(judge({ ...REPORT, level: 'index' }, CHOICES).reason).toBe(
    'an agent reads 3000 tokens instead of 10000: 70.0 % less. The types of a server that it uses add about 500',
  );
});

test('where the setting in force saves nothing, the richest that is worth it is named', () => {
  expect(judge({ ...REPORT, catalog: 14_000 }, CHOICES)).toEqual({
    isWorthIt: true,
    reason:
      'with prompt.tokenBudget: 3500 (signatures) an agent reads 6500 tokens instead of 10000: 35.0 % less. With your configuration it reads 14000, which saves nothing',
    setting: { 'prompt.tokenBudget': 3_500 },
  });
});

test('where no detail saves a quarter, the one that costs least is named', () => {
  const verdict = judge({ ...REPORT, definitions: 4_500, catalog: 14_000 }, CHOICES);
  expect(verdict).toMatchObject({ isWorthIt: true, setting: { 'prompt.tokenBudget': 1_000 } });
});

test('where no detail saves anything, it says so', () => {
  const verdict = judge({ ...REPORT, definitions: 3_900, catalog: 4_000 }, CHOICES);
  expect(verdict).toMatchObject({
    isWorthIt: false,
    reason: expect.stringContaining('no prompt.tokenBudget changes that'),
  });
});
