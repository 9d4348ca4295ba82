import { expect, test } from 'vitest';
import type { Outcome } from '../domain/run.js';
import { callsFailed } from './calls-failed.js';

const completed: Outcome = { status: 'completed', resultJson: '1' };
const entry = (toolName: string, ok: boolean) => ({ serverId: 'crm', toolName, durationMs: 1, ok });

test('failed calls of a program that completed are counted by tool, with the first message', () => {
  const trace = Array.from({ length: 900 }, (_, at) => entry('get_customer', at % 30 !== 0));
  const failures = new Map([
    ['crm.get_customer failed: no such customer', { serverId: 'crm' }],
    ['another', { serverId: 'crm' }],
  ]);
  expect(callsFailed({ outcome: completed, trace, failures })).toBe(
    '30 of 900 calls failed, and the program continued: crm/get_customer (30); first: crm.get_customer failed: no such customer',
  );
});

test('many tools and a long message stay short', () => {
  const trace = Array.from({ length: 50 }, (_, at) => entry(`tool_${at}`, false));
  const said = callsFailed({
    outcome: completed,
    trace,
    failures: new Map([['x'.repeat(5_000), { serverId: 'crm' }]]),
  });
  expect(said).toContain('and 47 more; first: xxx');
  expect(said?.length).toBeLessThan(300);
});

test('a program whose calls succeeded, or that failed itself, has no such line', () => {
  expect(callsFailed({ outcome: completed, trace: [entry('a', true)], failures: new Map() })).toBeUndefined();
  const outcome: Outcome = { status: 'failed', failure: { kind: 'exception', name: 'Error', message: 'no' } };
  expect(callsFailed({ outcome, trace: [entry('a', false)], failures: new Map() })).toBeUndefined();
});
