// @ts-check
import { expect, test } from 'vitest';
import { isWorthASecondRun, MAX_SECOND_RUNS } from './run-tests.mjs';
import { failedFiles, mergeSecondRun, summarize } from './test-report.mjs';

const file = (passed, failed = [], skipped = []) => ({ passed, failed, skipped });

test('the closing summary adds up all runs and groups what was skipped by its reason', () => {
  const reports = [
    { files: { 'a.test.ts': file(2, [], [{ title: 'one', reason: 'no bwrap' }]) } },
    {
      files: {
        'b.test.ts': file(
          3,
          ['four'],
          [
            { title: 'two', reason: 'no go' },
            { title: 'three', reason: 'no bwrap' },
          ],
        ),
      },
    },
  ];
  expect(summarize(reports)).toEqual({
    totals: '5 passed, 1 failed, 3 skipped',
    list: ['skipped: no bwrap', '  a.test.ts: one', '  b.test.ts: three', 'skipped: no go', '  b.test.ts: two'],
    unexplained: 0,
  });
});

test('a test that was skipped without a reason is counted as unexplained', () => {
  const skipped = [{ title: 'one', reason: undefined }];
  expect(summarize([{ files: { 'a.test.ts': file(1, [], skipped) } }])).toMatchObject({ unexplained: 1 });
});

test('a test that fails only beside others counts as passed, and the summary names it', () => {
  const first = { files: { 'a.test.ts': file(5), 'b.test.ts': file(1, ['slow']), 'c.test.ts': file(0, ['broken']) } };
  expect(failedFiles(first)).toEqual(['b.test.ts', 'c.test.ts']);
  const second = { files: { 'b.test.ts': file(2), 'c.test.ts': file(0, ['broken']) } };
  const report = mergeSecondRun(first, second);
  expect(failedFiles(report)).toEqual(['c.test.ts']);
  expect(summarize([report])).toEqual({
    totals: '7 passed, 1 failed, 0 skipped',
    list: ['flaky: failed beside other tests, passed alone', '  b.test.ts: slow'],
    unexplained: 0,
  });
});

test('errors outside of any file, and more failed files than load explains, get no second run', () => {
  const real = 'scripts/test-report.test.mjs';
  expect(isWorthASecondRun([real])).toBe(true);
  expect(isWorthASecondRun([])).toBe(false);
  expect(isWorthASecondRun(['outside of any test file'])).toBe(false);
  expect(isWorthASecondRun(Array.from({ length: MAX_SECOND_RUNS + 1 }, () => real))).toBe(false);
});
