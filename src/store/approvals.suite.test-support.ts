import { expect, test } from 'vitest';
import { question } from './runs.suite.test-support.js';
import type { Store } from './store.js';

const decision = (scope: 'call' | 'calls' | 'run' | 'hour' = 'call') =>
  ({ by: 'eve', atMs: Date.now(), scope, reason: 'fine' }) as const;

/** What every store does with approvals. */
export function approvalsSuite(open: () => Promise<Store>): void {
  test('the same question is open once, and comes back as it was asked', async () => {
    const approvals = await (await open()).approvals();
    const first = question('a1', 'run1');
    expect(await approvals.add(first)).toEqual(first);
    expect(await approvals.add(question('a2', 'run1'))).toMatchObject({ id: 'a1' });
    expect(await approvals.find('a1')).toEqual(first);
    expect(await approvals.find('a2')).toBeUndefined();
    expect(await approvals.ofCall('run1', 1)).toMatchObject({ id: 'a1', arguments: { to: 'bob' } });
    expect(await approvals.idsWith('a', 5)).toEqual(['a1']);
    expect([...(await approvals.pendingIds())]).toContain('a1');
    expect((await approvals.pendingOf('ana')).count).toBeGreaterThan(0);
  });

  test('a caller has no more open questions than allowed, however many are added at once', async () => {
    const approvals = await (await open()).approvals();
    const { count } = await approvals.pendingOf('ana');
    const added = await Promise.allSettled(
      ['q1', 'q2', 'q3', 'q4', 'q5', 'q6'].map(async (id) => approvals.add(question(id, `run ${id}`), count + 2)),
    );
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(added.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'quota_exceeded' } });
  });

  test('of two decisions the first counts, and waits end', async () => {
    const approvals = await (await open()).approvals();
    await approvals.add(question('b1', 'run2'));
    expect(await approvals.settledOf(['b1'])).toEqual([]);
    const both = await Promise.all([
      approvals.decide('b1', 'APPROVED', decision()),
      approvals.decide('b1', 'DENIED', decision()),
    ]);
    expect(both.map((each) => each?.isFirst).sort()).toEqual([false, true]);
    expect(await approvals.settledOf(['b1'])).toMatchObject([{ id: 'b1', decision: { by: 'eve', reason: 'fine' } }]);
    expect(await approvals.decide('none', 'DENIED', decision())).toBeUndefined();
  });

  test('an answer is used once, by the first that asks for it', async () => {
    const approvals = await (await open()).approvals();
    await approvals.add(question('c1', 'run3'));
    await approvals.decide('c1', 'APPROVED', decision());
    expect(await approvals.isUsed('c1')).toBe(false);
    const uses = await Promise.all([1, 2, 3, 4].map(() => approvals.use('c1')));
    expect(uses.filter(Boolean)).toHaveLength(1);
    expect(await approvals.isUsed('c1')).toBe(true);
    expect(await approvals.find('c1')).toMatchObject({ state: 'APPROVED' });
  });

  test('a grant covers waiting calls of its run and later ones, for the same reasons', async () => {
    const approvals = await (await open()).approvals();
    const { tool } = question('d1', 'run4');
    for (const [id, call] of [
      ['d1', 1],
      ['d2', 2],
    ] as const)
      await approvals.add(question(id, 'run4', { call }));
    const grant = { runId: 'run4', expiresAtMs: Date.now() + 60_000 };
    const decided = await approvals.decide('d1', 'APPROVED', decision('run'), { grant });
    expect(decided?.isFirst === true && decided.approvals.map(({ id }) => id)).toEqual(['d1', 'd2']);
    const asked = { runId: 'run4', caller: 'ana', reasons: ['why'] };
    expect(await approvals.grantFor(tool, asked, Date.now())).toMatchObject({ id: 'd1' });
    expect(await approvals.grantFor(tool, { ...asked, reasons: ['other'] }, Date.now())).toBeUndefined();
    expect(await approvals.grantFor(tool, { ...asked, runId: 'run5' }, Date.now())).toBeUndefined();
    expect(await approvals.grantFor({ ...tool, toolDigest: 'x' }, asked, Date.now())).toBeUndefined();
  });

  test('a grant is listed while it lets calls through, and revoked once for all hosts', async () => {
    const approvals = await (await open()).approvals();
    const { tool } = question('g1', 'run70');
    await approvals.add(question('g1', 'run70'));
    const expiresAtMs = Date.now() + 60_000;
    await approvals.decide('g1', 'APPROVED', decision('hour'), { grant: { runId: undefined, expiresAtMs } });
    const mine = async () => (await approvals.grants(Date.now())).filter(({ approval }) => approval.id === 'g1');
    expect(await mine()).toMatchObject([
      { scope: 'hour', expiresAtMs, approval: { id: 'g1', decision: { by: 'eve' } } },
    ]);
    const asked = { runId: 'run71', caller: 'ana', reasons: ['why'] };
    expect(await approvals.grantFor(tool, asked, Date.now())).toMatchObject({ id: 'g1' });
    const revoked = await Promise.all([approvals.revokeGrant('g1'), approvals.revokeGrant('g1')]);
    expect(revoked.toSorted()).toEqual([false, true]);
    expect(await mine()).toEqual([]);
    expect(await approvals.grantFor(tool, asked, Date.now())).toBeUndefined();
    expect(await approvals.find('g1')).toMatchObject({ state: 'APPROVED' });
  });

  test('what nobody decides expires or is closed', async () => {
    const approvals = await (await open()).approvals();
    await approvals.add(question('e1', 'run6', { expiresAtMs: Date.now() - 1 }));
    await approvals.add(question('e2', 'run7'));
    expect(await approvals.decide('e1', 'APPROVED', decision())).toMatchObject({ isFirst: expect.any(Boolean) });
    await approvals.expire(Date.now());
    expect(await approvals.closeOfRun('run7')).toBe(1);
    expect(await approvals.find('e2')).toMatchObject({ state: 'EXPIRED' });
    expect((await approvals.ofRun('run7')).map(({ state }) => state)).toEqual(['EXPIRED']);
  });

  test('a refusal is found again, and so is a late decision about the same call', async () => {
    const approvals = await (await open()).approvals();
    const first = question('f1', 'run8', { program: 'p', argumentsDigest: 'late' });
    const { tool } = first;
    await approvals.add(first);
    await approvals.decide('f1', 'DENIED', decision());
    expect(await approvals.deniedOfRun('run8', tool, 'late')).toMatchObject({ id: 'f1' });
    const same = { tool, argumentsDigest: 'late', caller: 'ana', program: 'p' };
    expect((await approvals.ofSameCall(same, Date.now())).map(({ id }) => id)).toEqual(['f1']);
    expect(await approvals.ofSameCall({ ...same, program: 'q' }, Date.now())).toEqual([]);
    expect((await approvals.decidedLate('ana', 'p', Date.now())).map(({ id }) => id)).toEqual(['f1']);
    expect((await approvals.recent(1_000)).some(({ id }) => id === 'f1')).toBe(true);
    await approvals.forgetOldest('ana', { count: 0, bytes: 0 });
    expect(await approvals.find('f1')).toBeUndefined();
    await approvals.prune(Date.now());
  });
}
