import { expect, test } from 'vitest';
import type { Approval } from '../../domain/approval.js';
import { LOG_LIMIT_REACHED } from '../logs-within.js';
import { logsWithin, modelAnswer } from './model-answer.js';
import { renderSuspended } from './render.js';

test('a suspended run says which calls were made, and that the waiting one was not', () => {
  const approval = {
    id: 'a1',
    tool: { serverId: 'shop', toolName: 'pay' },
    arguments: {},
    reason: 'it is destructive',
    expiresAtMs: 0,
  } as unknown as Approval;
  const trace = [{ serverId: 'shop', toolName: 'order', durationMs: 5, ok: true }];
  const used = { durationMs: 1, usage: { cpuMs: 1, memoryBytes: 1 } };
  const suspended = renderSuspended({ runId: 'r1', approvals: [approval], logs: [], trace, callCount: 1, ...used });
  const { diagnostics } = modelAnswer(suspended, { toolTrace: 'failures', maxTokens: 5_000 });
  expect(diagnostics).toMatchObject([
    { code: 'APPROVAL_PENDING', message: expect.stringContaining('This call was not sent yet; without') },
    { code: 'CALLS_MADE', message: '1 call succeeded: shop/order 1 (5 ms)' },
  ]);
});

test('calls that failed alike are one entry with their count, and the others are counted', () => {
  const failed = (toolName: string, error: string) => ({ serverId: 'crm', toolName, durationMs: 5, ok: false, error });
  const toolTrace = [
    ...Array.from({ length: 300 }, () => failed('get', 'ToolCallError: the tool reported an error')),
    ...Array.from({ length: 9 }, (_, at) => failed(`tool_${at}`, 'ToolCallError: no')),
  ];
  const diagnostics = [{ severity: 'error', code: 'UNCAUGHT_EXCEPTION', message: 'no' }] as const;
  const answer = modelAnswer(
    { logs: [], result: null, diagnostics, toolTrace },
    { toolTrace: 'failures', maxTokens: 5_000 },
  );
  expect(answer.toolTrace).toHaveLength(5);
  expect(answer.toolTrace?.[0]).toMatchObject({
    toolName: 'get',
    error: 'ToolCallError: the tool reported an error (300 calls)',
  });
  expect(answer.diagnostics?.[1]).toEqual({
    severity: 'info',
    code: 'CALLS_MADE',
    message: '5 more calls that failed are left out of toolTrace',
  });
});

test('logs over their limit name it, and do not call the kept lines all', () => {
  const entry = (message: string) => ({ level: 'log' as const, message, timeMs: 1 });
  const lines = Array.from({ length: 500 }, (_, at) => entry(`line ${at}`));
  const limit = entry(`${LOG_LIMIT_REACHED}65536 bytes (limits.maxLogBytes) was reached, and later lines are lost`);
  const said = logsWithin([...lines, limit], 2_000, () => 'logs-1').at(-1)?.message;
  expect(said).toMatch(/^logs were truncated: lines \d+ to \d+ of 500 are left out; await load\("logs-1"\)/);
  expect(said).toContain(
    'has these 500 lines. The logs of this answer may have 2000 characters. The limit of 65536 bytes (limits.maxLogBytes) was reached, and later lines are lost.',
  );
  expect(logsWithin(lines, 2_000, () => 'logs-1').at(-1)?.message).toContain(
    'has all lines. The logs of this answer may have 2000 characters. Assign',
  );
});
