import { expect, test } from 'vitest';
import type { Approval } from '../../../domain/approval.js';
import type { AuditRecord } from '../../../domain/audit.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { type CallSources, runCalls } from './run-calls-view.js';

function record(number: number, verdict: string, more: Partial<AuditRecord> = {}): AuditRecord {
  return {
    ...{ number, callId: `c${number}`, atMs: number * 10, durationMs: 1, verdict, serverId: 's', toolName: 'post' },
    ...{ resultBytes: null, redactions: {}, approval: { state: 'NOT_REQUIRED' }, codeDigest: 'program' },
    ...more,
  } as unknown as AuditRecord;
}

function approval(id: string, call: number, state: string, decidedAtMs?: number): Approval {
  const decision = omitUndefined({
    decision: ifDefined(decidedAtMs, (decidedAtMs) => ({ by: 'ana', atMs: decidedAtMs, scope: 'call' })),
  });
  return { id, call, state, createdAtMs: 5, ...decision } as unknown as Approval;
}

function callsOf(given: Partial<CallSources>) {
  return runCalls({
    ...{ recorded: [], notes: {}, audit: [], approvals: [], deliveries: [], source: '' },
    factsOf: (target) => ({ serverId: target.split('/')[0] ?? '', toolName: target.split('/')[1] ?? '', labels: [] }),
    labelsOf: () => [],
    ...given,
  });
}

const made = (...numbers: number[]) => numbers.map((number) => ({ number, target: 's/post', argumentsJson: '[]' }));

test('each call under a grant has its own outcome, though all carry the approval of the first', () => {
  const granted = { approval: { id: 'first', state: 'APPROVED' } } as const;
  const calls = callsOf({
    recorded: made(1, 2, 3),
    approvals: [approval('first', 1, 'APPROVED')],
    audit: [record(1, 'ok', granted), record(2, 'tool_error', granted), record(3, 'ok', granted)],
  });
  expect(calls.map(({ number, verdict }) => [number, verdict])).toEqual([
    [1, 'ok'],
    [2, 'tool_error'],
    [3, 'ok'],
  ]);
});

test('a call that waits for a person has no outcome and no duration', () => {
  const waiting = approval('a', 1, 'PENDING');
  const pending = record(1, 'pending', { approval: { id: 'a', state: 'PENDING' }, durationMs: 300 });
  for (const audit of [[], [pending]]) {
    const [call, ...others] = callsOf({ recorded: made(1), approvals: [waiting], audit });
    expect(others).toEqual([]);
    expect(call).toMatchObject({ number: 1, isWaiting: true, approval: { askedAtMs: 5 } });
    expect([call?.verdict, call?.durationMs, call?.startedAtMs]).toEqual([undefined, undefined, undefined]);
  }
});

test('a call that is made again after its run was resumed is one call, timed from then', () => {
  const note = { id: 'a', state: 'APPROVED' } as const;
  const calls = callsOf({
    recorded: made(1),
    approvals: [approval('a', 1, 'APPROVED', 400)],
    audit: [record(1, 'pending', { approval: { id: 'a', state: 'PENDING' } }), record(50, 'ok', { approval: note })],
  });
  expect(calls).toHaveLength(1);
  expect(calls[0]).toMatchObject({ number: 1, verdict: 'ok', startedAtMs: 500, durationMs: 1 });
});

test('the time that a person took is not counted as time of the call', () => {
  const [call] = callsOf({
    recorded: made(1),
    approvals: [approval('a', 1, 'APPROVED', 110)],
    audit: [record(1, 'ok', { approval: { id: 'a', state: 'APPROVED' }, durationMs: 120 })],
  });
  expect(call).toMatchObject({ startedAtMs: 110, durationMs: 20, approval: { askedAtMs: 5, decidedAtMs: 110 } });
});

test('calls of a stored script stand under the call that ran it, with their own records', () => {
  const inner = 2 ** 32 + 1;
  const calls = callsOf({
    recorded: [...made(1), { number: 2, target: '@scripts/runScript', argumentsJson: '["tidy"]' }, ...made(3)],
    source: "import { runScript } from '@codemode/scripts';\nawait runScript('tidy', {});",
    notes: {
      scripts: [
        {
          ...{ name: 'tidy', codeDigest: 'script', byCall: 2, startedAtMs: 15, durationMs: 12 },
          calls: made(inner),
        },
      ],
      retries: [{ call: inner, atMs: 21, failure: 'outcome_unknown' }],
    },
    audit: [record(1, 'ok'), record(2, 'tool_error', { codeDigest: 'script' }), record(3, 'ok')],
  });
  expect(calls.map(({ number, parent, depth, script, verdict }) => [number, parent, depth, script, verdict])).toEqual([
    [1, undefined, undefined, undefined, 'ok'],
    [2, undefined, undefined, 'tidy', undefined],
    [inner, 2, 1, undefined, 'tool_error'],
    [3, undefined, undefined, undefined, 'ok'],
  ]);
  expect(calls[1]).toMatchObject({ startedAtMs: 15, durationMs: 12, line: 2 });
  expect(calls[2]?.retries).toEqual([{ atMs: 21, failure: 'outcome_unknown' }]);
});
