import { expect, test } from 'vitest';
import type { AuditRecord } from '../../../domain/audit.js';
import type { AuditLog } from '../audit-log.js';
import { usageReport } from './usage.js';

test('calls of doctor, measure and demo are counted apart, and save nobody anything', async () => {
  const record = (caller: string) =>
    ({ caller, verdict: 'ok', serverId: 's', resultBytes: 400, durationMs: 1, atMs: Date.now() }) as AuditRecord;
  const asked: (readonly string[] | undefined)[] = [];
  const report = await usageReport(
    {
      audit: async () => ({ each: () => ['stdio', 'doctor', 'measure', 'demo'].map(record) }) as unknown as AuditLog,
      suspended: {
        answersByDay: async (_sinceMs, exceptCallers) => {
          asked.push(exceptCallers);
          return [];
        },
      },
      context: async () => ({ tools: 0, definitions: 0, told: 0 }),
    },
    1,
  );
  expect(report).toMatchObject({ ownCalls: 3, servers: [{ serverId: 's', calls: 1 }] });
  expect(report.days.map(({ calls, answerTokens }) => [calls, answerTokens])).toEqual([[1, 100]]);
  expect(asked).toEqual([['doctor', 'measure', 'demo']]);
});
