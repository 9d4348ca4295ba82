import { expect, test } from 'vitest';
import type { AuditRecord } from '../../../domain/audit.js';
import type { AuditLog } from '../audit-log.js';
import { usageReport } from './usage.js';

test('calls of doctor, measure and demo are counted apart, and only runs that ended save tokens', async () => {
  const record = (caller: string) =>
    ({ caller, verdict: 'ok', serverId: 's', resultBytes: 400, durationMs: 1, atMs: Date.now() }) as AuditRecord;
  const asked: (readonly string[] | undefined)[] = [];
  const report = await usageReport(
    {
      audit: async () => ({ each: () => ['stdio', 'doctor', 'measure', 'demo'].map(record) }) as unknown as AuditLog,
      suspended: {
        answersByDay: async (_sinceMs, exceptCallers) => {
          asked.push(exceptCallers);
          return [{ day: new Date().toISOString().slice(0, 10), runs: 2, calls: 5, toolBytes: 800, bytes: 40 }];
        },
      },
      context: async () => ({ tools: 0, definitions: 0, told: 0 }),
    },
    1,
  );
  expect(report).toMatchObject({ ownCalls: 3, servers: [{ serverId: 's', calls: 1 }] });
  expect(report.days).toMatchObject([
    { calls: 1, runs: 2, runCalls: 5, answerTokens: 200, readTokens: 10, savedTurns: 3 },
  ]);
  expect(asked).toEqual([['doctor', 'measure', 'demo']]);
});
