import { expect, test } from 'vitest';
import type { AuditRecord } from '../../domain/audit.js';
import type { AuditStore } from '../../store/audit.js';
import { AuditLog } from './audit-log.js';

/** Calls 1 to 6, each with a record of being in progress and, but for the last, one of its end. */
const RECORDS = Array.from({ length: 11 }, (_, index) => ({
  number: index + 1,
  callId: `call-${Math.floor(index / 2) + 1}`,
  verdict: index % 2 === 0 ? 'sent' : 'ok',
})) as unknown as AuditRecord[];

test('a limit counts calls, whether they have one record or two', async () => {
  const store = { adoptOrphans: () => {}, records: (_: object, limit: number) => RECORDS.slice(-limit) };
  const log = await AuditLog.open({ store: store as unknown as AuditStore, close: async () => {} });
  const told = async (limit: number) =>
    (await log.records({}, limit)).map(({ callId, verdict }) => `${callId} ${verdict}`);
  expect(await told(1)).toEqual(['call-6 sent']);
  expect(await told(5)).toEqual(['call-2 ok', 'call-3 ok', 'call-4 ok', 'call-5 ok', 'call-6 sent']);
  expect(await told(100)).toHaveLength(6);
});
