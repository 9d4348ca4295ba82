import { expect, test } from 'vitest';
import { snapshotOf } from '../../../test/support/catalog.js';
import { openGate } from '../../../test/support/policy.js';
import { openRunContext, type RunContext } from '../../broker/run-context.js';
import { isHostError } from '../../domain/errors.js';
import type { CallerId, RunId } from '../../domain/run.js';
import { restoreContext } from './restore-context.js';
import type { StoredProgram } from './run.js';

const gate = openGate({
  servers: { crm: { labels: ['private'] }, web: { labels: ['untrusted'] } },
  prices: { 'crm/*': 2 },
});
const snapshot = snapshotOf(['crm', 'web', 'plain'].map((id) => ({ id, tools: [{ name: 'use' }] })));

/** As it comes out of the store: JSON. */
const stored = (): RunContext =>
  JSON.parse(JSON.stringify(openRunContext('run', 'me' as CallerId, 'codemode', '1'))) as RunContext;

const { runId: id, caller, profile, codeDigest, createdAtMs } = stored();
const owner = { id, caller, profile, codeDigest, createdAtMs };

const programOf = (...calls: [target: string, isSent: boolean][]): StoredProgram => ({
  program: { runId: 'run' as RunId, codeDigest: '', sealed: Buffer.of() },
  calls: calls.map(([target, isSent], number) => ({
    call: { runId: 'run' as RunId, number, target, argumentsJson: '[]' },
    isSent,
  })),
  deliveries: [],
});

const restored = (...calls: [target: string, isSent: boolean][]) =>
  restoreContext(stored(), { ...owner, stored: programOf(...calls) }, snapshot, gate).ledger.toJSON();

test('what a run got in a process that was killed is known from the calls it made there', () => {
  expect(restored()).toEqual({ received: {}, spent: 0 });
  expect(restored(['crm/use', true], ['plain/use', true], ['@discovery/listServers', false])).toEqual({
    received: { crm: ['private'] },
    spent: 2_000_000,
  });
  expect(restored(['crm/use', false])).toEqual({ received: {}, spent: 0 });
});

test('what nobody can know any more counts as everything', () => {
  const everything = { received: { 'an earlier run': ['private', 'untrusted'] }, spent: 0 };
  expect(restored(['@results/load', false])).toEqual(everything);
  expect(restored(['crm/gone', true])).toEqual(everything);
});

test.each(['id', 'caller', 'profile', 'codeDigest'])(
  'a run of another %s than its sealed context is not resumed',
  (name) => {
    const moved = { ...owner, [name]: 'another', stored: programOf() };
    expect(() => restoreContext(stored(), moved, snapshot, gate)).toThrow('the stored state of this run was modified');
  },
);

test('a run that does not say what it has received is not resumed', () => {
  const without = { ...stored(), ledger: undefined } as unknown as RunContext;
  const resume = () => restoreContext(without, { ...owner, stored: programOf() }, snapshot, gate);
  expect(resume).toThrow(expect.toSatisfy((error: unknown) => isHostError(error, 'image_rejected')));
});
