import { expect, test } from 'vitest';
import type { Approval } from '../../domain/approval.js';
import { modelAnswer } from './model-answer.js';
import { renderSleeping } from './render.js';

test('a suspended run says which calls were made, and that the waiting one was not', () => {
  const approval = {
    id: 'a1',
    tool: { serverId: 'shop', toolName: 'pay' },
    arguments: {},
    reason: 'it is destructive',
    expiresAtMs: 0,
  } as unknown as Approval;
  const trace = [{ serverId: 'shop', toolName: 'order', durationMs: 5, ok: true }];
  const sleeping = renderSleeping({ runId: 'r1', approvals: [approval], logs: [], trace, callCount: 1 });
  const { diagnostics } = modelAnswer(sleeping, { toolTrace: 'failures', maxTokens: 5_000 });
  expect(diagnostics).toMatchObject([
    { code: 'APPROVAL_PENDING', message: expect.stringContaining('This call was not sent yet; without') },
    { code: 'CALLS_MADE', message: '1 call succeeded: shop/order 1 (5 ms)' },
  ]);
});
