import { expect, test } from 'vitest';
import { type Observation, violations } from './invariants.js';

/** One run that wrote once, after a person agreed. */
const RIGHT: Observation = {
  ledger: ['look r1-0', 'write r1-1', 'spend r1-2'],
  questions: [{ runId: 'r1', tool: 'ledger/write', text: 'r1-1', state: 'APPROVED' }],
  runs: [{ id: 'r1', state: 'succeeded' }],
  ends: [{ run: 'r1', what: 'ended' }],
  accepted: ['r1'],
  outcomes: new Map([['r1-1', 'done']]),
  budget: 1,
  audited: { look: 1, write: 1, spend: 1 },
  auditStatus: 0,
  auditOutput: '',
  deaths: [],
};

test('a run that went well violates nothing', () => {
  expect(violations(RIGHT)).toEqual([]);
});

test.each<[string, Partial<Observation>, RegExp]>([
  [
    'a call made twice',
    { ledger: [...RIGHT.ledger, 'write r1-1'], audited: { look: 1, write: 2, spend: 1 } },
    /more than once: write r1-1/,
  ],
  [
    'a call that was denied',
    { questions: [{ runId: 'r1', tool: 'ledger/write', text: 'r1-1', state: 'DENIED' }] },
    /nobody approved/,
  ],
  ['a call that nobody asked about', { questions: [] }, /nobody approved/],
  ['an answer without a call', { outcomes: new Map([['r1-9', 'done']]) }, /and it was not: r1-9/],
  ['a refusal of a call that was made', { outcomes: new Map([['r1-1', 'refused']]) }, /and it was made: r1-1/],
  ['a second end', { ends: [...RIGHT.ends, { run: 'r1', what: 'ended' }] }, /ended 2 times/],
  ['a change after the end', { ends: [...RIGHT.ends, { run: 'r1', what: 'changed' }] }, /changed after it had ended/],
  ['an end that nobody saw', { ends: [] }, /nobody saw it end/],
  ['a lost run', { runs: [], ends: [] }, /was lost: r1/],
  ['a run that nobody continues', { runs: [{ id: 'r1', state: 'suspended' }], ends: [] }, /stays suspended/],
  ['a budget that is overdrawn', { budget: 0 }, /1 calls were paid for from a budget for 0/],
  ['a call that is not on record', { audited: { look: 1, write: 0, spend: 1 } }, /0 are on record/],
  ['a broken chain', { auditStatus: 1, auditOutput: 'record 3 was changed' }, /does not verify: record 3/],
  ['a host that ended by itself', { deaths: ['host1 ended by itself (1): out of memory'] }, /host1 ended by itself/],
])('%s is found', (_, wrong, expected) => {
  expect(violations({ ...RIGHT, ...wrong }).join('\n')).toMatch(expected);
});
