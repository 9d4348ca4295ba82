import { expect, test } from 'vitest';
import { HostError } from '../../domain/errors.js';
import { type Failure, outOfTime } from '../../domain/run.js';
import type { RunSummary } from '../../host/runs/run-types.js';
import { renderHostError, renderScript } from './render.js';

const ended = (outcome: RunSummary['outcome'], more: Partial<RunSummary> = {}) =>
  renderScript({ outcome, ...more } as RunSummary);
const base = { name: 'Error', message: 'm' };
const memory = { name: 'SandboxLimitError', limit: 'memory', hint: 'Do less.' } as const;

test.each<[Failure, string, string]>([
  [{ ...base, kind: 'syntax', position: { line: 2, column: 5 } }, 'SYNTAX_ERROR', 'SyntaxError: m (line 2, column 5)'],
  [{ ...base, kind: 'exception', name: 'TypeError' }, 'RUNTIME_ERROR', 'TypeError: m'],
  [
    { ...base, ...memory, kind: 'limit' },
    'RUNTIME_ERROR',
    'm. Keep less in memory at once: filter early, work in pieces.',
  ],
  [{ ...base, kind: 'limit', limit: 'stack' }, 'RUNTIME_ERROR', 'm'],
  [{ ...base, kind: 'never_settled' }, 'RUNTIME_ERROR', 'm'],
  [{ ...base, kind: 'worker_lost' }, 'RUNTIME_ERROR', 'm'],
  [{ ...base, kind: 'cancelled' }, 'RUNTIME_ERROR', 'm'],
  [outOfTime(5), 'TIMEOUT', 'JavaScript execution timed out'],
  [{ ...base, kind: 'limit', limit: 'calls' }, 'MAX_TOOL_CALLS_EXCEEDED', 'm'],
  [{ ...base, kind: 'forbidden' }, 'SERVER_NOT_ALLOWED', 'm'],
  [
    { ...base, kind: 'not_serializable' },
    'SERIALIZATION_ERROR',
    'Result contains non-JSON-serializable values (functions, circular references, etc.)',
  ],
])('each failure has its code, and a stack only where something was thrown: %j', (failure, code, message) => {
  const stack = failure.kind === 'exception' ? 'at x' : '';
  expect(ended({ status: 'failed', failure: { ...failure, stack: 'at x' } })).toEqual({
    ok: false,
    error: { code, message, stack },
  });
});

test('a stack without frames is one line', () => {
  const failure: Failure = { ...base, kind: 'exception', stack: 'Error: m\n' };
  expect(ended({ status: 'failed', failure })).toMatchObject({ error: { stack: 'Error: m' } });
});

test('a value is handed over as it is, and one that is too large is not', () => {
  const outcome = { status: 'completed', resultJson: '{"a":null}' } as const;
  expect(ended(outcome)).toEqual({ ok: true, value: { a: null } });
  expect(ended(outcome, { keptResult: { handle: 'h', bytes: 9, mostBytes: 8 } })).toMatchObject({
    ok: false,
    error: { code: 'RUNTIME_ERROR', message: expect.stringContaining('9 bytes') },
  });
});

test("the host's own failures say whether to try again", () => {
  expect(renderHostError(new HostError('sandbox_busy', 'full'))).toEqual({
    ok: false,
    error: { code: 'SANDBOX_BUSY', message: 'full. Send the same request again.', stack: '' },
  });
});
