import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Approval, DIRECT_CALL } from '../../domain/approval.js';
import type { CallerId } from '../../domain/execution.js';
import { cardDigest } from '../../lib/card-digest.js';
import { ApprovalStore } from '../../store/approvals.js';
import { Database } from '../../store/database.js';
import { openRunContext } from '../run-context.js';
import { type ApprovalQuestion, Approvals } from './approvals.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-approvals-'));
const database = await Database.open(folder);
const other = await Database.open(folder);
afterAll(() => {
  database.close();
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As two hosts have them that share a state folder. */
const [approvals, elsewhere] = [database, other].map((file) => {
  const store = new ApprovalStore(file, new Uint8Array(32).fill(1));
  return new Approvals({ store: async () => store, fingerprintOf: () => '', expireAfterMs: 60_000 });
}) as [Approvals, Approvals];

const BY = { by: 'ada', scope: 'call' } as const;
const tool = { serverId: 'ledger', name: 'write' };

interface Wish {
  readonly run: string;
  readonly call?: number;
  readonly text?: string;
  readonly reasons?: readonly string[];
  readonly at?: Approvals;
}

/** Makes a call that needs a person; resolves when the question is there, with how it will end. */
async function ask({ run, call = 1, text = 'x', reasons = ['rule'], at = approvals }: Wish) {
  const stop = new AbortController();
  let asked: (approval: Approval) => void = () => {};
  const pending = new Promise<Approval>((resolve) => {
    asked = resolve;
  });
  const question: ApprovalQuestion = {
    run: openRunContext(run, 'ada' as CallerId, 'codemode', ''),
    ...{ call, tool, exportName: 'write', input: { text }, reason: reasons.join('; '), reasons },
    signal: stop.signal,
    onPending: (approval) => asked(approval),
  };
  const ended = at.ask(question).then(
    ({ state }) => state,
    () => 'not decided' as const,
  );
  const approval = await Promise.race([pending, ended.then(() => undefined)]);
  return { approval, id: approval?.id ?? '', ended, stop: () => stop.abort() };
}

describe('a yes to a direct call', () => {
  const direct = { call: DIRECT_CALL, run: 'direct-1' };

  test('lets one of two calls through that wait for it, in two hosts', async () => {
    const waiting = [await ask(direct), await ask(direct), await ask({ ...direct, at: elsewhere })];
    expect(new Set(waiting.map(({ id }) => id)).size).toBe(1);
    await approvals.decide(waiting[0]?.id ?? '', 'APPROVED', BY);
    const first = await Promise.race(waiting.map(({ ended }) => ended));
    expect(first).toBe('APPROVED');
    // The others are asked about anew.
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

  test('is none where the call is made for another reason by then', async () => {
    const late = { ...direct, run: 'direct-3' };
    const first = await ask(late);
    first.stop();
    await approvals.decide(first.id, 'APPROVED', BY);
    const second = await ask({ ...late, reasons: ['rule', 'private data from crm'] });
    expect(second.approval).toMatchObject({ state: 'PENDING' });
    second.stop();
  });

  test('is not for a run, which there is none of', async () => {
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
    expect(await approvals.decide(ids[0] ?? '', 'APPROVED', { ...all, ids, digest })).toMatchObject({ isFirst: true });
    expect(await Promise.all(shown.map(({ ended }) => ended))).toEqual(['APPROVED', 'APPROVED']);
    expect(await approvals.find(later.id)).toMatchObject({ state: 'PENDING' });
    later.stop();
  });

  test('that names another digest than that of the arguments decides nothing', async () => {
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

test.each(['run', 'hour'] as const)('a yes for %s covers its reasons, and a new one is asked about', async (scope) => {
  const run = `run for ${scope}`;
  const reasons = [`rule for ${scope}`];
  const first = await ask({ run, reasons });
  await approvals.decide(first.id, 'APPROVED', { ...BY, scope });
  expect(await (await ask({ run, call: 2, reasons })).ended).toBe('APPROVED');
  const guarded = await ask({ run, call: 3, reasons: [...reasons, 'private data from crm'] });
  expect(guarded.approval).toMatchObject({ state: 'PENDING' });
  guarded.stop();
});
