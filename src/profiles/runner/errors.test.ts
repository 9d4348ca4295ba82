import { expect, test } from 'vitest';
import type { EndedFailure } from '../../domain/execution.js';
import { resultError } from './errors.js';

const LATE: EndedFailure = {
  kind: 'limit',
  limit: 'timeout',
  name: 'SandboxLimitError',
  message: 'the program was stopped after 500 ms',
};

test('a run that was stopped may be repeated, unless a call of it may have taken effect', () => {
  expect(resultError(LATE)).toMatchObject({ type: 'Timeout', retryable: true });
  const unsure = resultError({ ...LATE, unfinished: ['shop/pay'] });
  expect(unsure).toMatchObject({ type: 'Timeout', retryable: false });
  expect(unsure.message).toContain('First check whether shop/pay took effect');
});
