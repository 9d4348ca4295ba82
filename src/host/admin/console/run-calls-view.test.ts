import { expect, test } from 'vitest';
import type { Approval } from '../../../domain/approval.js';
import type { AuditRecord } from '../../../domain/audit.js';
import { runCalls } from './run-calls-view.js';

const record = (number: number, verdict: string) =>
  ({
    ...{ number, callId: `c${number}`, atMs: number, durationMs: 1, verdict, serverId: 's', toolName: 'post' },
    ...{ resultBytes: null, redactions: {}, approval: { id: 'first', state: 'APPROVED' } },
  }) as unknown as AuditRecord;

test('each call under a grant has its own outcome, though all carry the approval of the first', () => {
  const recorded = [1, 2, 3].map((number) => ({ number, target: 's/post', argumentsJson: '[]' }));
  const calls = runCalls({
    ...{ recorded, deliveries: [], source: '' },
    approvals: [{ id: 'first', call: 1, state: 'APPROVED', createdAtMs: 0 } as unknown as Approval],
    audit: [record(1, 'ok'), record(2, 'tool_error'), record(3, 'ok')],
    factsOf: () => ({ serverId: 's', toolName: 'post', labels: [] }),
    labelsOf: () => [],
  });
  expect(calls.map(({ number, verdict }) => [number, verdict])).toEqual([
    [1, 'ok'],
    [2, 'tool_error'],
    [3, 'ok'],
  ]);
});
