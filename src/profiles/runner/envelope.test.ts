import { expect, test } from 'vitest';
import type { ProcessRunSummary } from '../../host/processes/process-run.js';
import { Ticket } from './envelope.js';

test('a result that is nested too deeply to be written is an error of the program [B3]', () => {
  const resultJson = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  const summary = { outcome: { status: 'completed', resultJson }, durationMs: 1, approvalState: 'NOT_REQUIRED' };
  const { result } = new Ticket('node').ended(summary as ProcessRunSummary, 100_000).envelope;
  expect(result).toMatchObject({ ok: false, error: { type: 'NotSerializable' } });
});
