import { describe, expect, test } from 'vitest';
import { problemIn } from './run-items.js';

describe('why a run failed', () => {
  test.each([
    [
      'a diagnostic',
      {
        diagnostics: [
          { severity: 'info', message: 'no' },
          { severity: 'error', message: 'why\n at x' },
        ],
      },
    ],
    ['an error with a message', { error: { code: 'X', message: 'why' } }],
    ['an error as a text', { error: 'why' }],
  ])('is read from %s, its first line', (_, response) => {
    expect(problemIn(response)).toBe('why');
  });

  test('is bounded, and absent where the answer has none', () => {
    expect(problemIn({ error: 'x'.repeat(1_000) })).toHaveLength(240);
    for (const response of [null, 'text', [], {}, { error: 7 }, { diagnostics: 'none' }, { diagnostics: [null] }])
      expect(problemIn(response)).toBeUndefined();
  });
});
