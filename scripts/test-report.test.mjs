// @ts-check
import { expect, test } from 'vitest';
import { summarize } from './test-report.mjs';

test('the closing summary adds up all runs and groups what was skipped by its reason', () => {
  const reports = [
    { passed: 2, failed: 0, skipped: [{ title: 'one', file: 'a.test.ts', reason: 'no bwrap' }] },
    {
      passed: 3,
      failed: 1,
      skipped: [
        { title: 'two', file: 'b.test.ts', reason: 'no go' },
        { title: 'three', file: 'b.test.ts', reason: 'no bwrap' },
      ],
    },
  ];
  expect(summarize(reports)).toEqual({
    totals: '5 passed, 1 failed, 3 skipped',
    list: ['skipped: no bwrap', '  a.test.ts: one', '  b.test.ts: three', 'skipped: no go', '  b.test.ts: two'],
    unexplained: 0,
  });
});

test('a test that was skipped without a reason is counted as unexplained', () => {
  const skipped = [{ title: 'one', file: 'a.test.ts', reason: undefined }];
  expect(summarize([{ passed: 1, failed: 0, skipped }])).toMatchObject({ unexplained: 1 });
});
