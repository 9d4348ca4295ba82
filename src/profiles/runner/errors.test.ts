import { expect, test } from 'vitest';
import type { EndedFailure } from '../../domain/run.js';
import { IS_STARTING } from '../../domain/upstream.js';
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

test("an exception of the program's own class is not retryable, whatever the class is called", () => {
  const failure = { kind: 'exception', name: 'Timeout', message: 'mine' } as const;
  expect(resultError(failure)).toEqual({ type: 'Timeout', message: 'mine', retryable: false });
});

test('a limit and an uncaught call that may succeed later are retryable', () => {
  expect(resultError({ kind: 'limit', limit: 'timeout', name: 'Error', message: 'late' })).toMatchObject({
    type: 'Timeout',
    retryable: true,
  });
  const call = { kind: 'exception', name: 'ToolError', errorClass: 'RateLimit', message: 'busy' } as const;
  expect(resultError(call)).toMatchObject({ type: 'RateLimit', retryable: true });
});

test('an import of a server that is still starting may succeed in the next run', () => {
  const late = { kind: 'import', name: 'Error', message: `server slow ${IS_STARTING}` } as const;
  expect(resultError(late)).toMatchObject({ type: 'TransientNetwork', retryable: true });
  expect(resultError({ ...late, message: 'there is no such module' })).toMatchObject({
    type: 'ImportError',
    retryable: false,
  });
});
