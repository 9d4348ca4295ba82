import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Approval, DIRECT_CALL } from '../../domain/approval.js';
import { CallerQuotas, DEFAULT_QUOTAS } from '../../domain/quotas.js';
import type { CallerId } from '../../domain/run.js';
import { cardDigest } from '../../lib/secrets/card-digest.js';
import { SqliteApprovalStore } from '../../store/sqlite/approvals.js';
import { Database } from '../../store/sqlite/database.js';
import { SqliteRunStore } from '../../store/sqlite/runs/runs.js';
import { openRunContext, type RunStart } from '../run-context.js';
import { type ApprovalRequest, Approvals } from './approvals.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-approvals-'));
const database = await Database.open(folder);
const other = await Database.open(folder);
afterAll(() => {
  database.close();
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Two hosts that share a state folder. */
const [approvals, elsewhere] = [database, other].map((file) => {
  const store = new SqliteApprovalStore(file, new Uint8Array(32).fill(1));
  return new Approvals({ store: async () => store, fingerprintOf: () => '', expireAfterMs: 60_000 });
}) as [Approvals, Approvals];

const BY = { by: 'ada', scope: 'call' } as const;
const tool = { serverId: 'ledger', name: 'write' };

interface WantedApproval {
  readonly run: string;
  readonly call?: number;
  readonly text?: string;
  readonly reasons?: readonly string[];
  readonly at?: Approvals;
  readonly caller?: string;
  /** A program that cannot be suspended. */
  readonly program?: string;
  readonly start?: Partial<RunStart>;
}

/** Makes a call that needs a person; resolves when the approval is pending, with how it will end. */
async function ask({
  run,
  call = 1,
  text = 'x',
  reasons = ['rule'],
  at = approvals,
  caller = 'ada',
  program,
  start,
}: WantedApproval) {
  const stop = new AbortController();
  let asked: (approval: Approval) => void = () => {};
  const pending = new Promise<Approval>((resolve) => {
    asked = resolve;
  });
  const request: ApprovalRequest = {
    run: openRunContext(run, caller as CallerId, 'codemode', program ?? '', {
      cannotSuspend: program === undefined ? undefined : { language: 'node', ...start },
    }),
    ...{ call, tool, exportName: 'write', input: { text }, reason: reasons.join('; '), reasons },
    signal: stop.signal,
    onPending: (approval) => asked(approval),
  };
  const ended = at.ask(request).then(
    ({ state }) => state,
    () => 'not decided' as const,
  );
  const approval = await Promise.race([pending, ended.then(() => undefined)]);
  return { approval, id: approval?.id ?? '', ended, stop: () => stop.abort() };
}

describe('a caller whose quota is reached', () => {
  const quotas = new CallerQuotas({ ...DEFAULT_QUOTAS, approvals: 2 });
  const runs = new SqliteRunStore(other, new Uint8Array(32).fill(1), { quotas });
  const end = (id: string) =>
    runs.end(
      [
        {
          ...{ id, caller: 'carol', profile: 'runner', setting: '', codeDigest: '', state: 'failed' },
          createdAtMs: Date.now(),
          ...{ responseJson: 'null', recordingJson: undefined, title: undefined, durationMs: undefined },
        },
      ],
      Date.now(),
    );
  const store = new SqliteApprovalStore(other, new Uint8Array(32).fill(1));
  const at = new Approvals({ store: async () => store, fingerprintOf: () => '', expireAfterMs: 60_000, quotas });
  const stateOf = (id: string) => store.find(id)?.state;

  test('gets no further approval while its runs continue; approvals of ended runs are closed', async () => {
    const [first, second] = [
      await ask({ run: 'left', caller: 'carol', at }),
      await ask({ run: 'live', caller: 'carol', at }),
    ];
    const refused = await ask({ run: 'third', caller: 'carol', at });
    expect([refused.approval, await refused.ended]).toEqual([undefined, 'not decided']);
    end('left');
    const third = await ask({ run: 'third', caller: 'carol', at });
    expect([first, second, third].map(({ id }) => stateOf(id))).toEqual(['EXPIRED', 'PENDING', 'PENDING']);
    for (const { stop } of [first, second, third]) stop();
  });
});

test('a denial is final for the run: the same call is denied at once, another call asks', async () => {
  const asked = await ask({ run: 'stubborn', call: 1 });
  await approvals.decide(asked.id, 'DENIED', BY);
  expect(await asked.ended).toBe('DENIED');
  const again = await ask({ run: 'stubborn', call: 2 });
  expect([again.approval, await again.ended]).toEqual([undefined, 'DENIED']);
  const others = [await ask({ run: 'stubborn', call: 3, text: 'y' }), await ask({ run: 'another', call: 1 })];
  expect(others.map(({ approval }) => approval?.state)).toEqual(['PENDING', 'PENDING']);
  for (const { stop } of others) stop();
});

describe('an approval of a direct call', () => {
  const direct = { call: DIRECT_CALL, run: 'direct-1' };

  test('lets one of two calls through that wait for it, in two hosts', async () => {
    const waiting = [await ask(direct), await ask(direct), await ask({ ...direct, at: elsewhere })];
    expect(new Set(waiting.map(({ id }) => id)).size).toBe(1);
    await approvals.decide(waiting[0]?.id ?? '', 'APPROVED', BY);
    const first = await Promise.race(waiting.map(({ ended }) => ended));
    expect(first).toBe('APPROVED');
    // A new approval is opened for each of the others.
    await expect.poll(async () => (await approvals.pending()).some(({ runId }) => runId === direct.run)).toBe(true);
    for (const { stop } of waiting) stop();
    const states = await Promise.all(waiting.map(({ ended }) => ended));
    expect(states.filter((state) => state === 'APPROVED')).toHaveLength(1);
  });

  test('is used by the call that is made again after it, once', async () => {
    const late = { ...direct, run: 'direct-2' };
    const first = await ask(late);
    first.stop();
    await first.ended;
    await approvals.decide(first.id, 'APPROVED', BY);
    expect(await (await ask(late)).ended).toBe('APPROVED');
    const third = await ask(late);
    expect(third.approval).toMatchObject({ state: 'PENDING' });
    third.stop();
  });

  test('does not apply if the call now needs it for another reason', async () => {
    const late = { ...direct, run: 'direct-3' };
    const first = await ask(late);
    first.stop();
    await approvals.decide(first.id, 'APPROVED', BY);
    const second = await ask({ ...late, reasons: ['rule', 'private data from crm'] });
    expect(second.approval).toMatchObject({ state: 'PENDING' });
    second.stop();
  });

  test('cannot have the scope run, because there is no run', async () => {
    const asked = await ask({ ...direct, run: 'direct-4' });
    await expect(approvals.decide(asked.id, 'APPROVED', { ...BY, scope: 'run' })).rejects.toThrow(/belongs to no run/);
    expect(await approvals.find(asked.id)).toMatchObject({ state: 'PENDING' });
    asked.stop();
  });
});

describe('a decision', () => {
  test('with scope calls names the calls by ids or digest, and covers no other', async () => {
    const run = 'run with a card';
    const shown = [await ask({ run, call: 1, text: 'a' }), await ask({ run, call: 2, text: 'b' })];
    const ids = shown.map(({ id }) => id);
    const digest = cardDigest(shown.flatMap(({ approval }) => approval ?? []));
    const later = await ask({ run, call: 3, text: 'c' });
    const all = { ...BY, scope: 'calls' } as const;
    await expect(approvals.decide(ids[0] ?? '', 'APPROVED', all)).rejects.toThrow(/3 calls that were not named/);
    await expect(approvals.decide(ids[0] ?? '', 'APPROVED', { ...all, digest })).rejects.toThrow(/digest/);
    await expect(approvals.decide(ids[0] ?? '', 'APPROVED', { ...all, ids: ['gone'] })).rejects.toThrow(/no approval/);
    // Also where only this call is decided: the person looked at another one.
    const other = { ...all, scope: 'call' as const, ids: [ids[1] ?? ''] };
    await expect(approvals.decide(ids[0] ?? '', 'APPROVED', other)).rejects.toThrow(
      /not one of the ids that were named/,
    );
    expect(await approvals.decide(ids[0] ?? '', 'APPROVED', { ...all, ids, digest })).toMatchObject({ isFirst: true });
    expect(await Promise.all(shown.map(({ ended }) => ended))).toEqual(['APPROVED', 'APPROVED']);
    expect(await approvals.find(later.id)).toMatchObject({ state: 'PENDING' });
    later.stop();
  });

  test('with a digest that differs from that of the arguments decides nothing', async () => {
    const asked = await ask({ run: 'run with a digest' });
    for (const digest of ['0'.repeat(64), asked.approval?.argumentsDigest.slice(0, 8) ?? ''])
      await expect(approvals.decide(asked.id, 'APPROVED', { ...BY, digest })).rejects.toThrow(/nothing was decided/);
    const digest = asked.approval?.argumentsDigest.slice(0, 16) ?? '';
    await approvals.decide(asked.id, 'APPROVED', { ...BY, digest });
    expect(await asked.ended).toBe('APPROVED');
  });

  test('cannot approve what is stored for another call than it is shown for', async () => {
    const asked = await ask({ run: 'run with changed bytes' });
    database.prepare('UPDATE approvals SET arguments_digest = ? WHERE id = ?').run('other', asked.id);
    await expect(approvals.decide(asked.id, 'APPROVED', BY)).rejects.toThrow(/was changed/);
    await approvals.decide(asked.id, 'DENIED', BY);
    expect(await asked.ended).toBe('DENIED');
  });
});

test.each(['run', 'hour'] as const)(
  'an approval with scope %s covers its reasons, and a new reason asks again',
  async (scope) => {
    const run = `run for ${scope}`;
    const reasons = [`rule for ${scope}`];
    const first = await ask({ run, reasons });
    await approvals.decide(first.id, 'APPROVED', { ...BY, scope });
    expect(await (await ask({ run, call: 2, reasons })).ended).toBe('APPROVED');
    const guarded = await ask({ run, call: 3, reasons: [...reasons, 'private data from crm'] });
    expect(guarded.approval).toMatchObject({ state: 'PENDING' });
    guarded.stop();
  },
);

/** What differs from the call that was shown. */
const OTHERS: readonly Partial<WantedApproval>[] = [
  ...[{ program: 'other' }, { text: 'other' }, { reasons: ['rule', 'flow'] }, { caller: 'eve' }],
  ...[{ start: { input: { to: 'eve' } } }, { start: { language: 'python' } }],
];

describe('a decision made after the end of a run that could not be suspended', () => {
  const wish = { program: 'write', text: 'late', caller: 'dora' };
  /** Asks in a run that ends before anybody has decided. */
  const endedUndecided = async (run: string, more: Partial<WantedApproval> = {}) => {
    const { id, stop, ended } = await ask({ ...wish, ...more, run });
    stop();
    await ended;
    return id;
  };

  test('applies once to the same call of the next run of the same program', async () => {
    await approvals.decide(await endedUndecided('late-1'), 'APPROVED', { by: 'me', scope: 'call' });
    for (const other of OTHERS) await endedUndecided('late-2', other);
    expect(await (await ask({ ...wish, run: 'late-3', call: 7 })).ended).toBe('APPROVED');
    expect(await endedUndecided('late-4')).not.toBe('');
    await approvals.decide(await endedUndecided('late-5'), 'DENIED', { by: 'me', scope: 'call' });
    expect(await (await ask({ ...wish, run: 'late-6' })).ended).toBe('DENIED');
    expect(await endedUndecided('late-7')).not.toBe('');
  });

  test('does not count as a call after an hour grant expired, nor for an answered program', async () => {
    const { id, ended } = await ask({ ...wish, run: 'told-1', text: 'told' });
    await approvals.decide(id, 'DENIED', { by: 'me', scope: 'call' });
    expect(await ended).toBe('DENIED');
    expect(await endedUndecided('told-2', { text: 'told' })).not.toBe('');
    await approvals.decide(await endedUndecided('hour-1', { text: 'hour' }), 'APPROVED', { by: 'me', scope: 'hour' });
    database.prepare('DELETE FROM grants').run();
    expect(await endedUndecided('hour-2', { text: 'hour' })).not.toBe('');
  });

  test('is used by one of two runs on two hosts that ask at the same time', async () => {
    await approvals.decide(await endedUndecided('two-1', { text: 'two' }), 'APPROVED', { by: 'me', scope: 'call' });
    const asked = await Promise.all([
      ask({ ...wish, run: 'two-2', text: 'two' }),
      ask({ ...wish, run: 'two-3', text: 'two', at: elsewhere }),
    ]);
    for (const { stop, id } of asked) if (id !== '') stop();
    expect((await Promise.all(asked.map(({ ended }) => ended))).sort()).toEqual(['APPROVED', 'not decided']);
  });
});
