import { expect, test } from 'vitest';
import type { Approval } from '../domain/approval.js';
import { deferred } from '../lib/async/deferred.js';
import type { EndedRun, SuspendedRun } from './runs.js';
import type { Store } from './store.js';

export const suspendedRun = (id: string, more: Partial<SuspendedRun> = {}): SuspendedRun => ({
  id,
  caller: 'ana',
  profile: 'codemode',
  setting: 'servers',
  codeDigest: 'c0de',
  createdAtMs: 1_000,
  program: Buffer.from(`image of ${id}`),
  contextJson: `{"of":"${id}"}`,
  title: `title of ${id}`,
  ...more,
});

export const endedRun = (id: string, more: Partial<EndedRun> = {}): EndedRun => ({
  ...{ id, caller: 'ana', profile: 'codemode', setting: 'servers', codeDigest: 'c0de', state: 'succeeded' },
  createdAtMs: 1_000,
  ...{ responseJson: `"answer of ${id}"`, recordingJson: `{"of":"${id}"}`, title: `title of ${id}`, durationMs: 1.5 },
  ...more,
});

export const question = (id: string, runId: string, more: Partial<Approval> = {}): Approval => ({
  ...{ id, runId, call: 1, caller: 'ana', argumentsDigest: 'd1', reason: 'why', reasons: ['why'] },
  tool: { serverId: 'mail', serverFingerprint: 'f', toolName: 'send', toolDigest: 't' },
  ...{ arguments: { to: 'bob' }, code: 'mail.send()', hiddenParts: 0, state: 'PENDING' },
  ...{ createdAtMs: Date.now(), expiresAtMs: Date.now() + 60_000 },
  ...more,
});

/** What every store does with runs. */
export function runsSuite(open: () => Promise<Store>): void {
  test('a suspended run comes back as it was, with what happened since', async () => {
    const runs = await (await open()).runs();
    await runs.suspend(suspendedRun('r1'), 1_500);
    expect(await runs.find('r1')).toMatchObject({
      id: 'r1',
      state: 'suspended',
      createdAtMs: 1_000,
      updatedAtMs: 1_500,
    });
    const lease = await runs.claim('r1');
    if (lease === undefined) throw new Error('not claimed');
    expect(await runs.find('r1')).toMatchObject({ isHeld: true });
    await runs.callMade(lease, 3, '{"n":3}');
    await runs.callSent(lease, 3, '{"n":3}');
    await runs.callMade(lease, 4, '{"n":4}');
    await runs.delivered(lease, 7, '"first"');
    await runs.delivered(lease, 8, '"second"');
    const opened = await runs.open('r1');
    expect(opened).toMatchObject({ contextJson: '{"of":"r1"}', caller: 'ana' });
    expect(Buffer.from(opened?.program ?? []).toString()).toBe('image of r1');
    expect(opened?.sinceThen).toEqual({
      calls: [
        { number: 3, isSent: true, callJson: '{"n":3}' },
        { number: 4, isSent: false, callJson: '{"n":4}' },
      ],
      deliveries: ['"first"', '"second"'],
    });
    await runs.suspend(suspendedRun('r1', { contextJson: '{"of":"later"}', lease }), 2_000);
    expect(await runs.open('r1')).toMatchObject({
      contextJson: '{"of":"later"}',
      sinceThen: { calls: [], deliveries: [] },
    });
    expect(await runs.find('r1')).toMatchObject({ isHeld: false, createdAtMs: 1_000, updatedAtMs: 2_000 });
  });

  test('a run that was resumed and ended has an answer, and nothing of its progress', async () => {
    const runs = await (await open()).runs();
    await runs.suspend(suspendedRun('r2'), 1_000);
    const lease = await runs.claim('r2');
    if (lease === undefined) throw new Error('not claimed');
    await runs.callSent(lease, 1, '{}');
    const modules = { digest: 'm1', json: '["modules"]' };
    const plain = endedRun('r3', { caller: 'bob', createdAtMs: 2_500, modules, durationMs: undefined });
    const figures = { calls: 3, toolBytes: 400 };
    expect(await runs.end([endedRun('r2', { lease, modules, figures }), plain], 3_000)).toEqual([]);
    expect(await runs.find('r2')).toMatchObject({
      ...{ state: 'succeeded', durationMs: 1.5, isHeld: false, createdAtMs: 1_000, updatedAtMs: 3_000 },
      figures: { ...figures, responseBytes: '"answer of r2"'.length },
    });
    expect(await runs.find('r3')).toMatchObject({ figures: undefined, createdAtMs: 2_500, updatedAtMs: 3_000 });
    expect(await runs.open('r2')).toBeUndefined();
    expect(await runs.claim('r2')).toBeUndefined();
    expect(await runs.responseOf({ id: 'r2', caller: 'ana' })).toBe('"answer of r2"');
    expect(await runs.responseOf({ id: 'r2', caller: 'bob' })).toBeUndefined();
    expect(await runs.recordingOf('r3')).toEqual({ json: '{"of":"r3"}', modulesJson: '["modules"]' });
    expect(await runs.titlesOf(['r2', 'r3', 'none'])).toEqual(
      new Map([
        ['r2', 'title of r2'],
        ['r3', 'title of r3'],
      ]),
    );
  });

  test('a run that is cancelled while suspended keeps its context', async () => {
    const runs = await (await open()).runs();
    await runs.suspend(suspendedRun('r4'), 1_000);
    const lease = await runs.claim('r4');
    const cancelled = { state: 'cancelled', recordingJson: undefined, title: undefined, lease } as const;
    await runs.end([endedRun('r4', cancelled)], 2_000);
    expect(await runs.contextOf('r4')).toEqual({ contextJson: '{"of":"r4"}', calls: [] });
    expect([...(await runs.titlesOf(['r4'])).values()]).toEqual(['title of r4']);
  });

  test('lists are pages of the newest first, chosen by what they have in common', async () => {
    const runs = await (await open()).runs();
    const figures = { calls: 3, toolBytes: 400 };
    const pats = { caller: 'pat' };
    for (const number of [1, 2, 3, 4, 5]) {
      const atMs = 10_000 + number;
      await runs.end([endedRun(`p${number}`, { ...pats, createdAtMs: atMs })], atMs);
    }
    const other = { ...pats, createdAtMs: 10_003, profile: 'other', state: 'failed', figures } as const;
    await runs.end([endedRun('q1', other)], 10_003);
    const ids = async (choice: Parameters<typeof runs.page>[0], limit = 10) =>
      (await runs.page({ caller: 'pat', ...choice }, limit)).map(({ id }) => id);
    expect(await ids({})).toEqual(['p5', 'p4', 'q1', 'p3', 'p2', 'p1']);
    const [, , third] = await runs.page({ caller: 'pat' }, 3);
    expect(await ids({ after: third?.place as never })).toEqual(['p3', 'p2', 'p1']);
    expect(await ids({ states: ['failed'] })).toEqual(['q1']);
    expect(await ids({ profile: 'codemode', sinceMs: 10_004 })).toEqual(['p5', 'p4']);
    expect(await ids({ exceptCallers: ['pat'] })).toEqual([]);
    expect(await ids({ updatedAfterMs: 10_004 })).toEqual(['p5']);
    expect((await runs.list(2, 'pat')).map(({ id }) => id)).toEqual(['p5', 'p4']);
    expect(await runs.idsWith('p', 3)).toEqual(['p1', 'p2', 'p3']);
    expect(await runs.lastOf({ caller: 'pat', profile: 'codemode', codeDigest: 'c0de' })).toMatchObject({ id: 'p5' });
    expect(await runs.answersByDay(10_000, ['ana', 'bob'])).toEqual([
      { day: '1970-01-01', runs: 6, calls: 3, toolBytes: 400, bytes: 6 * 14 },
    ]);
  });

  test('a run is passed on when its question was decided or has expired, and not before', async () => {
    const store = await open();
    const [runs, approvals] = [await store.runs(), await store.approvals()];
    await approvals.add(question('w1', 'r5'));
    await runs.suspend(suspendedRun('r5'), 1_000);
    const isResumable = async () => (await runs.resumable(1_000)).some(({ id }) => id === 'r5');
    expect(await isResumable()).toBe(false);
    await approvals.add(question('w2', 'r6', { expiresAtMs: Date.now() + 500 }));
    await runs.suspend(suspendedRun('r6'), 1_000);
    await approvals.add(question('w3', 'r7'));
    await runs.suspend(suspendedRun('r7'), 1_000);
    const found = { r5: deferred<void>(), r6: deferred<void>(), r7: deferred<void>() };
    const stop = runs.watch({
      room: 4,
      canTake: ({ id }) => id in found,
      take: async ({ id }) => {
        found[id as keyof typeof found].resolve();
        return true;
      },
    });
    await approvals.decide('w1', 'DENIED', { by: 'eve', atMs: Date.now(), scope: 'call' });
    await found.r5.promise;
    // No host looks at its approval any more.
    await found.r6.promise;
    stop();
    let isTaken = false;
    void found.r7.promise.then(() => {
      isTaken = true;
    });
    expect([isTaken, (await approvals.find('w3'))?.state]).toEqual([false, 'PENDING']);
    const lease = await runs.claim('r5');
    expect(await runs.claim('other')).toBeUndefined();
    if (lease !== undefined) await runs.release(lease);
    expect(await isResumable()).toBe(true);
  });

  test('suspended runs of a caller take no more than its quota', async () => {
    const runs = await (await open()).runs();
    const program = Buffer.alloc(1_100_000);
    await runs.suspend(suspendedRun('big1', { caller: 'big', program }), 1);
    await expect(async () => runs.suspend(suspendedRun('big2', { caller: 'big', program }), 1)).rejects.toThrow(
      /suspended runs take 2 MiB/,
    );
    expect(await runs.find('big2')).toBeUndefined();
  });
}
